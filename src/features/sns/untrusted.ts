/** What is not believed: the caller learns no more than that, the log learns why. */
import { AppError } from '../../errors.ts'

export function untrusted(why: string, cause?: unknown): AppError {
  return new AppError('FORBIDDEN', 'The notification is not believed.', {
    cause: new Error(why, { cause }),
    suggestion: 'List the topic in sns.topic_arns; only messages that SNS signed are taken.',
  })
}
