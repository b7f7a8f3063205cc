/** The API's representation of a contact. */
import { formatInstant } from '../../../../base/clock.ts'
import { AppError } from '../../../../base/errors.ts'
import type { Contact } from '../../../../store/schema/contacts.ts'
import type { ContactData } from '../../../../store/schema/json-values.ts'

export type ContactView = {
  id: string
  email: string
  subscribed: boolean
  data: ContactData | null
  projectId: string
  createdAt: string
  updatedAt: string
}

export function toContactView(contact: Contact): ContactView {
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
