/** The error for a message that is not trusted. Its reason goes to the log, not to the caller. */
import { AppError } from '../../../base/errors.ts'

export function untrusted(why: string, cause?: unknown): AppError {
  return new AppError('FORBIDDEN', 'The notification is not trusted.', {
    cause: new Error(why, { cause }),
    suggestion: 'List the topic in sns.topic_arns. Only messages that SNS signed are accepted.',
  })
}
