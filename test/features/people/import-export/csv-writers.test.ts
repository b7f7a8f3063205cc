/** No file of CSV has NUL or half a pair, whoever writes it. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { exportRecipients } from '../../../../src/features/outreach/campaigns/figures/export-recipients.ts'
import { upsertContact } from '../../../../src/features/people/contacts/write/contact-queue.ts'
import { exportContacts } from '../../../../src/features/people/import-export/export-contacts.ts'
import { createExportSlots } from '../../../../src/features/people/import-export/export-slots.ts'
import { csvResponse } from '../../../../src/http/exchange/table.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { addProject, address, openTestCore } from '../../../core.ts'
import { openCampaign } from '../../outreach/campaigns/figures/sent-campaign.ts'

const TEXT = 'a\0b\ud800c\udc00d'
const WRITTEN = 'a\ufffdb\ufffdc\ufffdd'

async function join(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  return Buffer.concat(await Array.fromAsync(pieces))
}

/** By the file that writes it: CSV with a cell of `TEXT`. */
const WRITERS: Record<string, (t: TestContext) => Promise<Uint8Array>> = {
  'features/people/import-export/export-contacts.ts': async (t) => {
    const core = await openTestCore(t)
    const { id: projectId } = await addProject(core)
    const contact = { projectId, address: address('ada@dest.test'), subscribed: true }
    await upsertContact(core, { ...contact, data: { note: TEXT, notes: [TEXT] } })
    return join(await exportContacts({ ...core, slots: createExportSlots() }, { projectId }))
  },
  'features/outreach/campaigns/figures/export-recipients.ts': async (t) => {
    const campaign = await openCampaign(t)
    await campaign.add(1)
    const data = { note: TEXT, notes: [TEXT] }
    await campaign.core.store.write((tx) => tx.update(contacts).set({ data }))
    const deps = { ...campaign.core, slots: createExportSlots() }
    return join(await exportRecipients(deps, { ...campaign.key, hasData: true }))
  },
  'http/exchange/table.ts': async () => {
    const { body } = csvResponse({ name: 'a', columns: ['name'], rows: [{ name: TEXT }] })
    assert.ok(body instanceof Uint8Array)
    return body
  },
}

test('the writers of CSV are known', () => {
  const names = globSync('**/*.ts', { cwd: 'src' }).filter((name) =>
    readFileSync(`src/${name}`, 'utf8').includes("csv/writer.ts'"),
  )
  assert.deepEqual(names.sort(), Object.keys(WRITERS).sort())
})

for (const [name, write] of Object.entries(WRITERS)) {
  test(`${name} writes U+FFFD for NUL and half a pair`, async (t) => {
    const octets = await write(t)
    assert.equal(octets.includes(0), false)
    const text = new TextDecoder('utf-8', { fatal: true }).decode(octets)
    assert.ok(text.includes(WRITTEN), text)
  })
}
