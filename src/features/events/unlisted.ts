/**
 * Events of the service that lists, names and counts show only to a caller that asks for them by
 * name. Followers, conditions and the figures of a name see them like any other event.
 */
export const UNLISTED_EVENTS: readonly string[] = ['email.failed', 'email.suppressed']
