/** The address of a row. */
import { invalidField } from '../../../../base/errors.ts'
import type { ParsedAddress } from '../../../../formats/address/address.ts'
import { parseShownAddress } from '../../../../formats/address/named-mailbox.ts'
import { readCellText } from './cell.ts'
import { type Header, pickCell } from './header.ts'
import type { CsvRecord } from './parser.ts'

/** Reads the address of a row. @throws AppError VALIDATION_ERROR */
export function readRowAddress(record: CsvRecord, header: Header): ParsedAddress {
  const text = findAddressText(record, header)
  if (text === undefined) throw invalidField('email', 'required', 'There is no email address')
  const address = parseShownAddress(text)
  if (address === undefined) throw invalidField('email', 'invalid_string', 'Not an email address')
  return address
}

/** Undefined for a row whose address cannot be read. */
export function findRowAddress(record: CsvRecord, header: Header): ParsedAddress | undefined {
  const text = findAddressText(record, header)
  return text === undefined ? undefined : parseShownAddress(text)
}

function findAddressText(record: CsvRecord, header: Header): string | undefined {
  const cell = pickCell(record, header.columns.get('email'), header)
  return cell && readCellText(cell, header)
}
