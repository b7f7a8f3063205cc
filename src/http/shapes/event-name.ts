/** The name of an event in a request. */
import { z } from 'zod'
import { tooLongText } from '../../base/errors.ts'
import { faultInServiceName } from '../../features/ground/conditions/service-name.ts'
import { EVENT_NAME_RULES } from '../../features/ground/events/event-name.ts'
import { MAX_EVENT_NAME_LENGTH } from '../../records/limits.ts'

const text = z.string().min(1).max(MAX_EVENT_NAME_LENGTH, tooLongText(MAX_EVENT_NAME_LENGTH))

export const eventName = EVENT_NAME_RULES.reduce(
  (shape, { pattern, message }) => shape.regex(pattern, message),
  text,
).meta({ pattern: '^[^\\p{Cc}\\p{Cs}]*$' })

/** The name of an event that something is to follow: one that can occur. */
export const followedEvent = eventName.superRefine((name, context) => {
  const message = faultInServiceName(name)
  if (message !== undefined) context.addIssue({ code: 'custom', message })
})
