/** Converts mailparser's addresses to mailboxes. */
import type { AddressObject, EmailAddress } from 'mailparser'
import { MAX_DISPLAY_NAME_LENGTH } from '../limits.ts'
import { oneLine } from '../one-line.ts'
import type { Damage } from '../parse/damage.ts'
import { parseAddress } from './address.ts'
import { type NamedMailbox, toNamedMailbox } from './named-mailbox.ts'

/** The mailboxes of a field, including those in groups; invalid addresses are left out. */
export function readMailboxes(
  field: AddressObject | AddressObject[] | undefined,
  damage?: Damage,
): NamedMailbox[] {
  const objects = field === undefined ? [] : [field].flat()
  const entries = objects.flatMap(({ value }) => value)
  return entries.flatMap((entry) => readEntry(entry, damage))
}

function readEntry({ address, name, group }: EmailAddress, damage?: Damage): NamedMailbox[] {
  if (group !== undefined) return group.flatMap((entry) => readEntry(entry, damage))
  const parsed = parseAddress(address ?? '')
  return parsed === undefined ? [] : [toNamedMailbox(parsed, cleanName(name, damage))]
}

function cleanName(name: string, damage: Damage | undefined): string | null {
  if (name.length > MAX_DISPLAY_NAME_LENGTH) damage?.addCut('Name', MAX_DISPLAY_NAME_LENGTH)
  const clean = oneLine(name).slice(0, MAX_DISPLAY_NAME_LENGTH)
  return clean === '' ? null : clean.toWellFormed()
}
