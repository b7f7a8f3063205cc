/** A contact as the API shows it. */
import { formatInstant } from '../../../../base/clock.ts'
import { AppError } from '../../../../base/errors.ts'
import type { ContactRecord } from '../../../../records/contact.ts'
import type { Contact } from '../../../../store/schema/contacts.ts'

export function toContactRecord(contact: Contact): ContactRecord {
  const { id, address, subscribed, data, projectId, createdAt, updatedAt } = contact
  return {
    id,
    email: address,
    subscribed,
    data,
    projectId,
    createdAt: formatInstant(createdAt),
    updatedAt: formatInstant(updatedAt),
  }
}

/** The error is the same for a contact of another project, so that it does not reveal one. */
export function contactNotFound(id: string): AppError {
  return new AppError('CONTACT_NOT_FOUND', 'No contact of this project has that id.', {
    details: { resource: 'contact', id },
  })
}
