/** Converts mailparser's addresses to mailboxes. */
import type { AddressObject, EmailAddress } from 'mailparser'
import { MAX_DISPLAY_NAME_LENGTH } from '../limits.ts'
import { oneLine } from '../one-line.ts'
import { parseAddress } from './address.ts'
import type { NamedMailbox } from './named-mailbox.ts'

/** The mailboxes of a field, including those in groups; invalid addresses are left out. */
export function readMailboxes(field: AddressObject | AddressObject[] | undefined): NamedMailbox[] {
  const objects = field === undefined ? [] : [field].flat()
  return objects.flatMap(({ value }) => value).flatMap(readEntry)
}

function readEntry({ address, name, group }: EmailAddress): NamedMailbox[] {
  if (group !== undefined) return group.flatMap(readEntry)
  const parsed = parseAddress(address ?? '')
  return parsed === undefined ? [] : [{ address: parsed, name: cleanName(name) }]
}

function cleanName(name: string): string | null {
  const clean = oneLine(name).slice(0, MAX_DISPLAY_NAME_LENGTH)
  return clean === '' ? null : clean.toWellFormed()
}
