/**
 * UPDATE_CONTACT: merges keys into the data of the contact, and may set `subscribed`. It never
 * subscribes a person who left. Texts in the values are templates (`step-values.ts`).
 */
import { AppError } from '../../../../../base/errors.ts'
import type { Contact } from '../../../../../store/schema/contacts.ts'
import type { Tx } from '../../../../../store/write/transaction.ts'
import { mergeAsGiven } from '../../../../people/contacts/write/data.ts'
import { writeContact } from '../../../../people/contacts/write/set-subscribed.ts'
import { endWishOfProject, hasLeft, recordWishOfProject } from '../../../../people/wishes/wishes.ts'
import type { StepOf, UpdateContactConfig } from '../../graph/step-config.ts'
import { type AskedValues, hasTemplates, isOf, type StepValues } from '../step-values.ts'
import type { TurnChanges } from '../turn-changes.ts'
import type { StepCall, StepOutcome } from '../walk.ts'

type UpdateCall = StepCall<StepOf<'UPDATE_CONTACT'>>

type UpdateInput = {
  call: UpdateCall
  workflow: { id: string }
  at: number
  ask(values: AskedValues): void
  changes: TurnChanges
}

export async function updateContactOfStep(
  { values: stepValues }: { values: StepValues },
  tx: Tx,
  { call, workflow, at, ask, changes }: UpdateInput,
): Promise<StepOutcome> {
  const { step, execution } = call
  const { updates: given = {}, subscriptionAction = 'none' } = step.config
  const updates = hasTemplates(given)
    ? findRendered(stepValues, call, { workflowId: workflow.id, values: given, ask })
    : given
  if (updates === undefined) return { kind: 'later' }
  if (updates === 'too heavy') {
    const error = 'the templates take too much time or memory to render'
    return { kind: 'failed', input: { updates: given, subscriptionAction }, error }
  }
  const input = { updates, subscriptionAction }
  const before = execution.contact
  const depth = execution.depth + 1
  const isKept =
    subscriptionAction === 'subscribe' && !before.subscribed && (await hasLeft(tx, before))
  const applied = isKept ? ({ updates, subscriptionAction: 'none' } as const) : input
  const contact = changed(before, applied, at)
  if (typeof contact === 'string') return { kind: 'failed', input, error: contact }
  if (subscriptionAction === 'unsubscribe' && !before.subscribed) {
    await recordWishOfProject(tx, { contactId: before.id, at })
  }
  if (contact.subscribed && !before.subscribed) await endWishOfProject(tx, contact)
  if (contact.subscribed !== before.subscribed) {
    await writeContact(tx, { before, contact, reason: 'workflow', depth })
  }
  const { number, ordinal } = execution
  if (contact !== before) changes.addContact(contact, depth, { number, ordinal })
  execution.contact = contact
  const { data: newData, subscribed } = contact
  const remark = isKept ? { remark: 'the person left, so the contact stays unsubscribed' } : {}
  const output = { updated: true, ...input, newData, subscribed, ...remark }
  return { kind: 'done', input, output }
}

/** Returns the values if they are rendered; otherwise asks for them. */
function findRendered(
  stepValues: StepValues,
  { execution }: UpdateCall,
  {
    workflowId,
    values,
    ask,
  }: { workflowId: string; values: Record<string, unknown> } & Pick<UpdateInput, 'ask'>,
): Record<string, unknown> | 'too heavy' | undefined {
  const { id, address, subscribed, data } = execution.contact
  const facts = { contact: { id, address, subscribed, data }, context: execution.context, values }
  const place = { executionNumber: execution.number, ordinal: execution.ordinal }
  const found = stepValues.find({ workflowId, ...place })
  // A wait that follows begins where the walk that asked was, so that no event is missed.
  execution.eventSeq ??= found?.asked.eventSeq ?? null
  if (found !== undefined && isOf(found, facts)) return found.values
  ask({ ...facts, ...place, eventSeq: execution.eventSeq })
  return undefined
}

/** Returns the contact after the change, the same one if nothing differs, or why it is refused. */
function changed(
  contact: Contact,
  { updates, subscriptionAction }: Required<UpdateContactConfig>,
  at: number,
): Contact | string {
  try {
    const data = mergeAsGiven(contact.data, updates)
    const subscribed =
      subscriptionAction === 'none' ? contact.subscribed : subscriptionAction === 'subscribe'
    if (data === contact.data && subscribed === contact.subscribed) return contact
    return { ...contact, data, subscribed, updatedAt: at }
  } catch (error) {
    if (error instanceof AppError && error.fields?.[0]) return error.fields[0].message
    throw error
  }
}
