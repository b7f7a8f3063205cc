/**
 * Names of email events that clients use for the stored ones (contract 17): triggers, waits and filters
 * accept both.
 */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['email.delivered', 'email.delivery'],
  ['email.opened', 'email.open'],
  ['email.clicked', 'email.click'],
  ['email.bounced', 'email.bounce'],
  ['email.complained', 'email.complaint'],
])

/** Returns the name under which events are stored. */
export function storedEventName(name: string): string {
  return ALIASES.get(name) ?? name
}
