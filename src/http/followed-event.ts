/** The name of an event that a request makes something follow. */

import { faultInServiceName } from '../features/ground/conditions/service-name.ts'
import { eventName } from '../records/event.ts'

/** The name of an event that something is to follow: one that can occur. */
export const followedEvent = eventName.superRefine((name, context) => {
  const message = faultInServiceName(name)
  if (message !== undefined) context.addIssue({ code: 'custom', message })
})
