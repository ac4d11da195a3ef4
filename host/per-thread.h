/* per-thread.h -- the state of a call.
 *
 * What a call keeps in variables is declared PER_THREAD. The files that may run on threads are compiled
 * twice. In the first build, which the main thread runs, the word is empty: plain variables cost nothing. In
 * the second, each thread has variables of its own. The build refuses others there (tools/check-threads). */
#ifndef ROAR_PER_THREAD_H
#define ROAR_PER_THREAD_H

#ifdef ON_THREADS
#define PER_THREAD _Thread_local
#else
#define PER_THREAD
#endif

#endif
