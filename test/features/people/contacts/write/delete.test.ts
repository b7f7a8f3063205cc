/** What goes with a contact that is deleted, beside the rows that refer to it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  insertSandboxMessage,
  listSandboxMessages,
} from '../../../../../src/features/mail/messages/sandbox-messages.ts'
import { runBulk, startBulk } from '../../../../../src/features/people/contacts/bulk/bulk-job.ts'
import { deleteContact } from '../../../../../src/features/people/contacts/write/delete.ts'
import { addProject, openTestCore } from '../../../../core.ts'
import { claimJob } from '../../../../work/jobs/running.ts'
import { addContacts } from '../../../outreach/campaigns/sending/campaign.ts'

for (const isBulk of [false, true]) {
  test(`copies in the sandbox go with the contact, bulk ${isBulk}`, async (t) => {
    const core = await openTestCore(t)
    const { id: projectId } = await addProject(core)
    const people = [{ address: 'gone@dest.test' }, { address: 'stays@dest.test' }]
    const [id = ''] = await addContacts(core, projectId, people)
    for (const recipient of ['gone@dest.test', 'Gone@Dest.test', 'stays@dest.test']) {
      const message = { sender: 'a@shop.test', recipient, subject: 'x', raw: Buffer.from('x') }
      await insertSandboxMessage(core, message)
    }
    if (isBulk) {
      const selection = { mode: 'ids', contactIds: [id] } as const
      await startBulk(core, { projectId, operation: 'delete', selection })
      await runBulk(core, await claimJob(core, 'bulk'))
    } else await deleteContact(core, { projectId, id })
    const { messages } = await listSandboxMessages(core, { limit: 10 })
    assert.deepEqual(
      messages.map(({ recipient }) => recipient),
      ['stays@dest.test'],
    )
  })
}
