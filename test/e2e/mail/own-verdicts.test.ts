/** Verdicts of our own that are wrong: blind DNS servers, and receivers that refuse everybody. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { and, eq, inArray } from '../../../src/store/drizzle.ts'
import { emails } from '../../../src/store/schema/messages.ts'
import { eventually, type Program, startProgram } from '../program.ts'

type Health = { status: string; reasons: { cause: string; reason: string }[] }
type Page = { data: { email: string; cause?: string; reason: string }[]; total: number }

let program: Program

before(async () => {
  program = await startProgram({
    PILLARBOX_DELIVERY__RETRY_SCHEDULE: '["1s"]',
    // So many bounces would disable the project.
    PILLARBOX_SECURITY__AUTO_DISABLE: 'false',
  })
})

after(() => program.close())

/** `others`: without its checks of itself, a minute after its start: the DNS of this test knows nothing of it. */
async function health() {
  const { status, reasons } = (await program.call('GET', '/health')).body as Health
  return { status, reasons, others: reasons.filter(({ cause }) => cause !== 'checks') }
}

async function list(...more: string[]): Promise<Page> {
  return (await program.command('suppressions', 'list', ...more)) as Page
}

async function untilBounced(ids: readonly string[]): Promise<void> {
  const { read } = program.core.store
  const are = and(inArray(emails.id, [...ids]), eq(emails.state, 'bounced'))
  await eventually(async () => ((await read.$count(emails, are)) === ids.length ? true : undefined))
}

async function countSubscribed(): Promise<number> {
  const { body } = await program.call('GET', '/contacts?subscribed=true&limit=1')
  return (body as { total: number }).total
}

describe('verdicts of the server itself', () => {
  it('F4: failing DNS servers suppress no address: mail waits and is sent when they work again', async () => {
    const sink = await program.receive('dest.test')
    const to = Array.from({ length: 60 }, (_, index) => `ann@customer${index}.test`)
    program.dns.answerAll('NXDOMAIN')
    const ids = await program.send({ to: [...to, 'ann@dest.test'], subscribed: true })
    for (const id of ids) {
      const { email, attempts } = await program.untilState(id, 'deferred', 'bounced')
      assert.equal(email.state, 'deferred')
      assert.equal(attempts[0]?.class, 'dns')
    }
    assert.deepEqual((await list()).data, [])
    assert.equal(await countSubscribed(), 61)
    const { status, others } = await health()
    assert.deepEqual([status, others.map(({ cause }) => cause)], ['degraded', ['dns']])
    program.dns.answerAll(undefined)
    await program.untilState(ids.at(-1) ?? '', 'delivered')
    assert.equal(sink.acceptedCount(), 1)
    // The others do not exist indeed. Their mail had waited: a second look decides.
    await untilBounced(ids.slice(0, -1))
    const held = await list('--held')
    assert.deepEqual([held.total, held.data[0]?.cause], [60, 'domain'])
    assert.deepEqual((await list()).data, [])
    assert.equal(await countSubscribed(), 61)
    const undone = await program.command('suppressions', 'undo', '--since', '1h')
    assert.equal((undone as { dropped: number }).dropped, 60)
  })

  it('too many simultaneous bounces are held until an operator undoes all of them', async () => {
    await program.receive('angry.test', {
      respond: ({ verb }) => (verb === 'RCPT' ? '550 5.1.1 No such user' : undefined),
    })
    const before = { since: new Date().toISOString(), subscribed: await countSubscribed() }
    const to = Array.from({ length: 70 }, (_, index) => `user${index}@angry.test`)
    const ids = await program.send({ to, subscribed: true })
    await untilBounced(ids)
    const held = await list('--held')
    assert.deepEqual([held.total, held.data[0]?.cause], [20, 'fuse'])
    assert.equal((await list()).total, 50)
    assert.equal(await countSubscribed(), before.subscribed + 20)

    await program.stop()
    await program.start()
    const reason = (await health()).others.find(({ cause }) => cause === 'suppressions')
    assert.match(reason?.reason ?? '', /held: 20 .*suppressions confirm --since .*undo --since /)

    const shown = await program.run('suppressions', 'list', '--held', '--limit', '2')
    assert.match(
      shown.out,
      /^ADDRESS +REASON.*\nuser\d+@angry\.test +HARD_BOUNCE .*confirm or undo/,
    )
    assert.match(shown.out, /20 in all/)
    const done = await program.command('suppressions', 'undo', '--since', before.since)
    assert.deepEqual(done, {
      since: before.since,
      ...{ dropped: 20, removed: 50, resubscribed: 50, kept: 0, remaining: 0 },
    })
    assert.equal(await countSubscribed(), before.subscribed + 70)
    assert.deepEqual([(await list()).total, (await list('--held')).total], [0, 0])
    const { status, reasons } = await eventually(async () => {
      const seen = await health()
      return seen.others.length === 0 ? seen : undefined
    })
    assert.equal(status, reasons.length === 0 ? 'ok' : 'degraded')
  })
})
