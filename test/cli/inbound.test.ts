import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { countAll, selectListed } from '../../src/features/incoming/receiving/inbound-messages.ts'
import { eq, sql } from '../../src/store/drizzle.ts'
import { newId } from '../../src/store/ids.ts'
import { type InboundMessage, inboundMessages } from '../../src/store/schema/inbound.ts'
import { makeFolder } from '../config/config-folder.ts'
import { commandsAt, placeDatabase } from './commands-at.ts'

const cwd = makeFolder()
const env = { PILLARBOX_DELIVERY__HOSTNAME: 'mail.example.com' }
const { run, json, withStore } = commandsAt({ cwd, env })
const raw = Buffer.from('Subject: b\xfccher\r\n\r\nraw \0 bytes\r\n', 'latin1')

const base = {
  receivedAt: Date.UTC(2026, 0, 2, 3, 4, 5),
  state: 'processed' as const,
  reversePath: 'a@sender.test',
  recipients: [{ for: 'server' as const, address: 'abuse@mail.example.com' }],
  clientAddress: '192.0.2.1',
  clientName: 'mx.sender.test',
  tls: null,
  sizeBytes: raw.length,
  raw,
}

const keep = (message: Partial<InboundMessage>) =>
  withStore(async (store) => {
    const row = { ...base, ...message, id: newId() }
    const isForServer = row.recipients.some((recipient) => recipient.for === 'server')
    await store.write((tx) => tx.insert(inboundMessages).values({ ...row, isForServer }))
    const { id } = row
    return id
  })

describe('pillarbox inbound', () => {
  before(() => placeDatabase(cwd))

  it('list shows mail to the server itself and unreadable mail, newest first', async () => {
    assert.deepEqual(await json('inbound', 'list'), [])
    assert.match((await run('inbound', 'list')).out, /^No mail for the server itself/)
    const said = {
      kind: 'mail' as const,
      sender: 'Ann <a@sender.test>',
      subject: 'Stop \x1b[2J it',
    }
    const abuse = await keep(said)
    const mailbox = { for: 'mailbox' as const, address: 'info@shop.test', projectId: 'p' }
    await keep({ recipients: [mailbox], subject: 'for: "for":"server"' })
    await keep({ recipients: [mailbox], state: 'pending' })
    const failed = await keep({
      ...{ recipients: [mailbox], state: 'failed', error: 'it took too long' },
      ...{ reversePath: '', raw: null },
    })
    assert.deepEqual(await json('inbound', 'list'), [
      {
        id: failed,
        receivedAt: '2026-01-02T03:04:05.000Z',
        from: '<>',
        to: ['info@shop.test'],
        subject: null,
        kind: null,
        state: 'failed',
        error: 'it took too long',
        remark: null,
        sizeBytes: raw.length,
      },
      {
        id: abuse,
        receivedAt: '2026-01-02T03:04:05.000Z',
        from: 'Ann <a@sender.test>',
        to: ['abuse@mail.example.com'],
        subject: 'Stop \x1b[2J it',
        kind: 'mail',
        state: 'processed',
        error: null,
        remark: null,
        sizeBytes: raw.length,
      },
    ])
    const { out } = await run('inbound', 'list')
    assert.match(out, /^ID +RECEIVED +STATE +TO +FROM +SUBJECT\n/)
    assert.match(out, /2026-01-02 03:04:05Z +failed +info@shop\.test +<> +it took too long\n/)
  })

  it("escapes text from other people's mail", async () => {
    const { out } = await run('inbound', 'list')
    assert.match(out, /Stop \\x1b\[2J it/)
    const gone = await keep({ raw: null, subject: '\x1b]0;x\x07', clientName: 'a\nb' })
    const shown = await run('inbound', 'show', gone)
    assert.doesNotMatch(`${out}${shown.out}`, /[\x1b\x07]/)
    assert.match(shown.out, /client +a\\x0ab \[192\.0\.2\.1\], in clear\n/)
  })

  it('show prints the message unchanged, and its metadata once the text is deleted', async () => {
    const id = await keep({})
    for (const argv of [[], ['--json']]) {
      const shown = await run('inbound', 'show', id, ...argv)
      assert.deepEqual([shown.status, shown.err], [0, ''])
      assert.ok(shown.raw.equals(raw))
    }
    const report = await keep({ raw: null, kind: 'bounce', summary: { recipients: 1 } })
    const known = await json('inbound', 'show', report)
    assert.deepEqual(
      [known.id, known.kind, known.receivedAt, known.summary, 'raw' in known],
      [report, 'bounce', '2026-01-02T03:04:05.000Z', { recipients: 1 }, false],
    )
    assert.match(
      (await run('inbound', 'show', report)).out,
      /its text is deleted\.\n\n[\s\S]*findings +\{"recipients":1\}\n/,
    )
    const unknown = await run('inbound', 'show', 'unknown', '--json')
    assert.equal(unknown.status, 1)
    assert.equal(JSON.parse(unknown.err).error.code, 'RESOURCE_NOT_FOUND')
  })

  it('list and show name capped mail and the reason', async () => {
    const remark = 'capped: more than 30 from bob@people.test within an hour'
    const mailbox = { for: 'mailbox' as const, address: 'info@shop.test', projectId: 'p' }
    const id = await keep({ recipients: [mailbox], remark })
    const [listed] = await json('inbound', 'list')
    assert.deepEqual([listed.id, listed.remark], [id, remark])
    assert.match((await run('inbound', 'list')).out, /capped: more than 30 from bob@people\.test/)
    const shown = await run('inbound', 'show', id)
    assert.ok(shown.raw.equals(raw))
    assert.equal(shown.err, `Note: ${remark}\n`)
    const facts = await run('inbound', 'show', id, '--facts')
    assert.match(facts.out, /^Inbound message \S+\.\n\n[\s\S]*note +capped: more than 30/)
    assert.equal((await json('inbound', 'show', id, '--facts')).remark, remark)
  })

  it('retry reads failed messages again, by id or all of them', async () => {
    const failed = { state: 'failed' as const, error: 'x', attempts: 3, interruptions: 10 }
    const one = await keep(failed)
    const other = await keep(failed)
    const gone = await keep({ ...failed, raw: null })
    assert.deepEqual(await json('inbound', 'retry', one), { ids: [one], messages: 1 })
    const [row] = await withStore((store) =>
      store.read.select().from(inboundMessages).where(eq(inboundMessages.id, one)),
    )
    assert.deepEqual(
      [row?.state, row?.attempts, row?.interruptions, row?.isSuspect, row?.error],
      ['pending', 0, 0, true, null],
    )
    const refused = await run('inbound', 'retry', other, gone)
    assert.equal(refused.status, 1)
    assert.match(refused.err, /text of inbound message \S+ has been deleted/)
    assert.equal((await json('inbound', 'show', other, '--facts')).state, 'failed')
    const done = await keep({})
    assert.match((await run('inbound', 'retry', done)).err, /nothing to retry/)
    assert.match((await run('inbound', 'retry', 'unknown')).err, /no inbound message unknown/)
    for (const argv of [[], [other, '--failed']]) {
      assert.equal((await run('inbound', 'retry', ...argv)).status, 2)
    }
    assert.deepEqual(await json('inbound', 'retry', '--failed'), { messages: 1 })
    assert.match((await run('inbound', 'retry', '--failed')).out, /^To be read again: 0\.\n/)
  })

  it('delete removes messages, except waiting ones', async () => {
    const id = await keep({})
    const waiting = await keep({ state: 'pending' })
    const refused = await run('inbound', 'delete', id, waiting)
    assert.match(refused.err, /is still waiting to be read/)
    assert.deepEqual(await json('inbound', 'delete', id), { ids: [id] })
    assert.match((await run('inbound', 'show', id)).err, /no inbound message/)
  })

  it('an empty list counts read and waiting messages and names the command that lists them', async () => {
    await withStore((store) => store.write((tx) => tx.delete(inboundMessages)))
    const mailbox = { for: 'mailbox' as const, address: 'info@shop.test', projectId: 'p' }
    const read = await keep({ recipients: [mailbox], kind: 'mail' })
    await keep({ recipients: [mailbox], state: 'pending' })
    await keep({ recipients: [mailbox], state: 'pending', isSuspect: true })
    const { out } = await run('inbound', 'list')
    assert.match(out, /could be read\.\nWaiting to be read: 2\.\nRead: 1\. .*inbound list --all\n/)
    const all = await json('inbound', 'list', '--all')
    assert.equal(all.length, 3)
    assert.equal(all[2].id, read)
  })

  it('counting reads no message', async () => {
    const plan = await withStore((store) =>
      store.read.all<{ detail: string }>(
        sql.raw(`explain query plan ${countAll.compiled().text.replaceAll('?', '9')}`),
      ),
    )
    const scans = plan.filter(({ detail }) => detail.includes('inbound_messages'))
    assert.equal(scans.length, 3)
    for (const { detail } of scans) assert.match(detail, /USING COVERING INDEX/)
  })

  it('list reads no more than its rows, however much mail has come', async () => {
    const query = selectListed.compiled().text.replaceAll('?', '9')
    const plan = await withStore((store) =>
      store.read.all<{ detail: string }>(sql.raw(`explain query plan ${query}`)),
    )
    assert.match(JSON.stringify(plan), /USING (COVERING )?INDEX inbound_messages_operator/)
    assert.doesNotMatch(JSON.stringify(plan), /TEMP B-TREE/)
  })
})
