/** The addresses of users, as commands are given them. */
import { type AppError, invalidField, notFound } from '../../../../base/errors.ts'
import { parseShownAddress } from '../../../../formats/address/named-mailbox.ts'

/** @throws AppError VALIDATION_ERROR (email) */
export function parseUserAddress(text: string): string {
  const parsed = parseShownAddress(text)
  if (parsed === undefined) throw invalidField('email', 'invalid_string', 'Not an email address')
  return parsed.address
}

export function userNotFound(address: string): AppError {
  return notFound('user', address, 'No user has this email address.')
}
