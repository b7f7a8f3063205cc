/** Of an id that no email has: what has it. For operators, who see all projects. */
import { eq } from '../../../../store/drizzle.ts'
import { projects } from '../../../../store/schema/accounts.ts'
import { campaigns } from '../../../../store/schema/campaigns.ts'
import { contacts } from '../../../../store/schema/contacts.ts'
import { domains } from '../../../../store/schema/domains.ts'
import { templates } from '../../../../store/schema/messages.ts'
import { segments } from '../../../../store/schema/segments.ts'
import { workflowExecutions, workflows } from '../../../../store/schema/workflows.ts'
import type { Base } from '../../../ground/base.ts'

/** `address`: of a contact. */
export type OtherKind = { kind: string; address?: string }

const TABLES = [
  { kind: 'a campaign', table: campaigns },
  { kind: 'a project', table: projects },
  { kind: 'a template', table: templates },
  { kind: 'a workflow', table: workflows },
  { kind: 'an execution of a workflow', table: workflowExecutions },
  { kind: 'a segment', table: segments },
  { kind: 'a domain', table: domains },
] as const

export async function findOtherKind(
  { store: { read } }: Pick<Base, 'store'>,
  id: string,
): Promise<OtherKind | undefined> {
  const { address } = contacts
  const contact = await read.select({ address }).from(contacts).where(eq(contacts.id, id)).get()
  if (contact !== undefined) return { kind: 'a contact', address: contact.address }
  for (const { kind, table } of TABLES) {
    const found = await read.select({ id: table.id }).from(table).where(eq(table.id, id)).get()
    if (found !== undefined) return { kind }
  }
  return undefined
}
