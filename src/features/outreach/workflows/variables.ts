/** The variables of the templates in the configs of steps. */
import type { Variables } from '../../../formats/template/variables.ts'
import type { Contact } from '../../../store/schema/contacts.ts'
import type { Base } from '../../ground/base.ts'
import { contactVariables } from '../../mail/messages/delivery/source.ts'

type VariableFacts = {
  projectId: string
  contact: Pick<Contact, 'id' | 'address' | 'subscribed' | 'data'>
  context: Record<string, unknown> | null
  /** The postal address of the project. */
  postalAddress: string | null
}

/**
 * Returns the variables for an execution: the data of the contact, the keys of the context, the
 * whole context as `event`, and the variables of the service itself.
 */
export function executionVariables(
  deps: Pick<Base, 'config' | 'keyring'>,
  { projectId, contact, context, postalAddress }: VariableFacts,
): Variables {
  return {
    stored: contact.data ?? {},
    request: { ...context, event: context ?? {} },
    system: {
      ...contactVariables(deps, { ...contact, projectId }),
      ...(postalAddress !== null && { postalAddress }),
    },
  }
}
