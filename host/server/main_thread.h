/* main_thread.h -- the main thread's environment: everything comes from the server. */
#ifndef ROAR_MAIN_THREAD_H
#define ROAR_MAIN_THREAD_H

#include "server/environment.h"

extern OURS const environment main_thread;

#endif
