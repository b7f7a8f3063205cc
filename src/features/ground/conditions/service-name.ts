/**
 * Only the service makes events below `email.`, so a name there that the service does not know never
 * occurs: a trigger, a wait or a condition that names it is a misspelling. Below the other beginnings
 * (`contact.created`) projects may have events of their own.
 */
import { MAIL_ACTIVITIES } from './field.ts'
import { shortenForError, suggest } from './field-errors.ts'

const PREFIX = 'email.'

/** Every spelling of every event below the prefix. */
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
