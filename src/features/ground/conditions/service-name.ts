/**
 * Finds misspelt names of events of the service. Only the service makes events below `email.`, so a
 * trigger, a wait or a condition with an unknown name below `email.` waits for an event that never
 * occurs. Below other prefixes (`contact.created`) projects may have events of their own.
 */
import { MAIL_ACTIVITIES } from './field.ts'
import { shortenForError, suggest } from './field-errors.ts'

const PREFIX = 'email.'

/** All names of events below `email.`: those of conditions and the stored ones. */
const NAMES: readonly string[] = [
  ...new Set([
    ...[...MAIL_ACTIVITIES.keys(), ...MAIL_ACTIVITIES.values()],
    ...['email.failed', 'email.suppressed', 'email.received'],
  ]),
]

/** Says why no event can have the name; undefined if an event can. */
export function faultInServiceName(name: string): string | undefined {
  if (!name.startsWith(PREFIX) || NAMES.includes(name)) return undefined
  const shown = shortenForError(name)
  return `There is no event ${shown}; expected one of ${NAMES.join(', ')}.${suggest(shown, NAMES)}`
}
