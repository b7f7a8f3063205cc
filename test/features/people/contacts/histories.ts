/** What a project may know of a person before a request. */

import { suppress } from '../../../../src/features/mail/messages/outcome/suppression.ts'
import { upsertContact } from '../../../../src/features/people/contacts/write/contact-queue.ts'
import { deleteContact } from '../../../../src/features/people/contacts/write/delete.ts'
import { address, START, type TestCore } from '../../../core.ts'

export const HISTORIES = [
  ...(['new', 'new', 'new', 'subscribed', 'unsubscribed', 'withData', 'withMuchData'] as const),
  ...(['suppressed', 'suppressedContact', 'left', 'erased', 'withdrawn', 'held'] as const),
]
export type History = (typeof HISTORIES)[number]

/** Gives the project what it knows of a person with this history. */
export async function live(
  core: TestCore,
  projectId: string,
  { email, history }: { email: string; history: History },
) {
  const upsert = (change: object) =>
    upsertContact(core, { projectId, address: address(email), ...change })
  const block = () =>
    core.store.write((tx) =>
      suppress(tx, {
        ...{ projectId, address: email, reason: 'HARD_BOUNCE', source: 'test', emailId: null },
        at: START,
      }),
    )
  if (history === 'subscribed') await upsert({ subscribed: true })
  if (history === 'unsubscribed') await upsert({ subscribed: false })
  if (history === 'withData') await upsert({ subscribed: true, data: { plan: 'free', size: 1 } })
  if (history === 'withMuchData') {
    await upsert({ subscribed: true, data: { plan: 'free', bulk: 'y'.repeat(40_000) } })
  }
  if (history === 'suppressed') await block()
  if (history === 'suppressedContact') {
    await upsert({ subscribed: true })
    await block()
  }
  if (history === 'left') await upsert({ subscribed: false, hasLeft: true })
  if (history === 'erased') {
    const { contact } = await upsert({ subscribed: true })
    await deleteContact(core, { projectId, id: contact.id })
  }
  if (history === 'withdrawn') {
    await upsert({ subscribed: false })
    await upsert({ subscribed: false })
  }
}
