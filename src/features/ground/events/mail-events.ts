/** The events of an email that is sent, by the names under which they are stored. */
export const MAIL_EVENTS: readonly string[] = [
  ...['email.sent', 'email.delivery', 'email.open', 'email.click', 'email.bounce'],
  ...['email.complaint', 'email.failed', 'email.suppressed'],
]
