/* time_limit.h -- how long a command may take, and whether the limits of this node apply to it. */
#ifndef ROAR_TIME_LIMIT_H
#define ROAR_TIME_LIMIT_H

#include "server/command.h"

/* Whether the command comes from the primary or from an AOF. It was accepted there, so limits of this node
 * do not apply: scripts in an AOF may write what they read. */
int was_accepted(const call *c);
/* From here on, the command's calls into the core may take as long as the setting question-ms says. */
void limit_question(const call *c);

#endif
