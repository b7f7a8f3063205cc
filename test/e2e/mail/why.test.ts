/**
 * An operator who knows only a recipient's address finds out why mail to it has not arrived: with the
 * real program, its commands, and receivers that misbehave.
 */
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { after, before, describe, it, type TestContext } from 'node:test'
import { drop } from '../../fakes/smtp-sink.ts'
import { eventually, type Program, startProgram } from '../program.ts'

let program: Program

type Sending = { progress: { step: string }; leaseUntil: string; nextAttemptAt: string }

/** How many emails wait for a slow site before the one that is looked at. */
const BEFORE = 19

before(async () => {
  program = await startProgram({ PILLARBOX_DELIVERY__RETRY_SCHEDULE: '["1h"]' })
})

after(() => program.close())

/** Waits until `queue list --to` shows the reason; returns its text and that of `queue show`. */
async function explain(t: TestContext, to: string, reason: RegExp, at = program) {
  const list = await eventually(async () => {
    const { status, out, err } = await at.run('queue', 'list', '--to', to)
    assert.deepEqual([status, err], [0, ''])
    return reason.test(out) ? out : undefined
  }).catch(async () => {
    assert.fail(`never: ${reason}\n${(await at.run('queue', 'list', '--to', to)).out}`)
  })
  const id = /queue show ([0-9a-f-]{36})/.exec(list)?.[1] ?? ''
  const { out: shown } = await at.run('queue', 'show', id)
  t.diagnostic(`\n${list}\n${shown}`)
  assert.match(shown, reason)
  return { list, shown, id }
}

describe('queue list --to explains why mail has not arrived', () => {
  it('a site in back-off: its name, start, end and cause, and the command that lifts it', async (t) => {
    const sink = await program.receive('slow.test', {
      respond: ({ verb, count }) =>
        verb === 'MAIL' && count === 1 ? '421 4.7.0 Too many messages from you' : undefined,
    })
    await program.send({ to: 'first@slow.test' })
    await explain(t, 'first@slow.test', /Too many messages from you/)
    const { out } = await program.run('queue', 'sites')
    t.diagnostic(`\n${out}`)
    assert.match(out, /^SITE +CONNECTIONS +ON THE WAY +RATE +STATE +LIMITED +SINCE +UNTIL +REPLY\n/)
    assert.match(
      out,
      /^slow\.test +\d+ reserved of \d+ +.* a minute .*421 4\.7\.0 Too many messages from you$/m,
    )
    // One goes every six seconds: the last one waits for minutes.
    const before = Array.from({ length: BEFORE }, (_, at) => `user${at}@slow.test`)
    const id = (await program.send({ to: [...before, 'second@slow.test'] })).at(-1) ?? ''
    const reason =
      /slow\.test until \d{4}-.* since \d{4}-.*: 421 4\.7\.0 Too many messages from you/
    const { shown } = await explain(t, 'second@slow.test', reason)
    assert.match(shown, /to change it +pillarbox queue sites --lift slow\.test/)
    const lifted = await program.run('queue', 'sites', '--lift', 'slow.test')
    const waited =
      /The restriction of slow\.test is lifted; (\d+) emails that waited for it are due now/
    const count = Number(waited.exec(lifted.out)?.[1])
    assert.ok(count >= 1 && count <= BEFORE + 2, lifted.out)
    await program.untilState(id, 'delivered')
    await sink.waitForMessages(BEFORE + 2)
    const unknown = await program.run('queue', 'sites', '--lift', 'nowhere.test')
    assert.equal(unknown.status, 1)
    assert.match(unknown.err, /The running server has no site nowhere\.test/)
  })

  it('a held domain: the time, and the command that releases it', async (t) => {
    await program.receive('kept.test')
    await program.command('queue', 'hold', '--domain', 'kept.test')
    await eventually(async () => {
      const [sent = ''] = await program.send({ to: 'ada@kept.test' })
      return (await program.untilState(sent, 'held', 'delivered')).email.state === 'held'
        ? true
        : undefined
    })
    const reason = /been held since \d{4}-.*: an operator holds all mail to kept\.test/
    const { shown } = await explain(t, 'ada@kept.test', reason)
    assert.match(shown, /pillarbox queue release --domain kept\.test/)
    assert.doesNotMatch(shown, /next attempt/)
    const { out } = await program.run('queue', 'holds')
    assert.match(out, /^DOMAIN +SINCE +WAITING +TO RELEASE\nkept\.test +\d{4}-.*Z +\d+ +pillarbox/)
  })

  it('a resolver that does not work: the failed lookup and the time of the next attempt', async (t) => {
    program.dns.set('nodns.test', 'SERVFAIL')
    await program.send({ to: 'ada@nodns.test' })
    const reason =
      /The mail servers of nodns\.test could not be looked up in the DNS: MX of nodns\.test/
    const { shown } = await explain(t, 'ada@nodns.test', reason)
    assert.match(shown, /next attempt +\d{4}-/)
  })

  it('a tarpit: the peer, the step and its start; the lease apart from the next attempt', async (t) => {
    const unanswered: Socket[] = []
    let isOver = false
    await program.receive('tar.test', {
      respond: ({ verb }) => {
        if (verb !== 'CONNECT') return undefined
        return isOver ? drop : (socket) => unanswered.push(socket)
      },
    })
    await program.send({ to: 'ada@tar.test' })
    const reason = /connected to mx\.tar\.test \[127\.0\.0\.\d+\], waiting for its greeting/
    const { shown, id } = await explain(t, 'ada@tar.test', reason)
    assert.match(shown, /^ {2}peer +mx\.tar\.test \[127\.0\.0\.\d+\]$/m)
    assert.match(shown, /^ {2}step +greeting, since \d{4}-/m)
    assert.match(shown, /^ {2}lease until +\d{4}-/m)
    assert.match(shown, /^ {2}next attempt +\d{4}-.*Z, if this one fails$/m)
    const sending = (await program.command('queue', 'show', id)) as Sending
    assert.equal(sending.progress.step, 'greeting')
    assert.ok(Date.parse(sending.leaseUntil) < Date.parse(sending.nextAttemptAt))
    await program.send({ to: Array.from({ length: 20 }, (_, at) => `user${at}@tar.test`) })
    const behind =
      /capacity at tar\.test: .* connected to mx\.tar\.test \[[\d.]+\], waiting for its greeting/
    await explain(t, 'user19@tar.test', behind)
    // Otherwise the server would wait for these connections when it stops.
    isOver = true
    for (const socket of unanswered) socket.destroy()
  })

  it('a greylisted email: the reply that asks for another attempt, and its time', async (t) => {
    await program.receive('grey.test', {
      respond: ({ verb }) =>
        verb === 'RCPT' ? '451 4.7.1 Greylisted, please come back later' : undefined,
    })
    await program.send({ to: 'ada@grey.test' })
    const reason =
      /mx\.grey\.test asks for another attempt later \(greylisting\): 451 4\.7\.1 Greylisted.* The next attempt is at \d{4}-/
    await explain(t, 'ada@grey.test', reason)
  })

  it('a refused, then suppressed address: the host, its reply, the time and the command that changes it', async (t) => {
    await program.receive('no.test', {
      respond: ({ verb }) => (verb === 'RCPT' ? '550 5.1.1 No such user here' : undefined),
    })
    const [id = ''] = await program.send({ to: 'eve@no.test' })
    await program.untilState(id, 'bounced')
    const refused = /It was refused by mx\.no\.test at \d{4}-.*: 550 5\.1\.1 No such user here/
    const { list: noted } = await explain(t, 'eve@no.test', refused)
    assert.match(noted, /on the suppression list of project .*: pillarbox suppressions remove/)
    await program.send({ to: 'eve@no.test' })
    const suppressed =
      /It was not sent: eve@no\.test has been on the suppression list since \d{4}-.*550/
    const { list, shown } = await explain(t, 'eve@no.test', suppressed)
    assert.match(list, refused)
    assert.match(shown, /to change it +pillarbox suppressions remove --project \S+ eve@no\.test/)
  })

  it('an address without mail: the fact that there is none', async () => {
    const { out } = await program.run('queue', 'list', '--to', 'Nobody@Nowhere.test')
    assert.match(
      out,
      /^No matching mail\.\n\nThere is no email to nobody@nowhere\.test: none was accepted/,
    )
    const wrong = await program.run('queue', 'list', '--to', 'nobody')
    assert.deepEqual([wrong.status, wrong.out], [2, ''])
  })

  it('a person who left after earlier mail: the contact is unsubscribed', async () => {
    await program.receive('left.test')
    const [id = ''] = await program.send({ to: 'ada@left.test' })
    await program.untilState(id, 'delivered')
    const list = async () => (await program.run('queue', 'list', '--to', 'ada@left.test')).out
    // Unsubscribed by `/v1/send`, without a wish: the mail that was sent is all there is.
    assert.doesNotMatch(await list(), /unsubscribed/)
    const body = { email: 'ada@left.test', unsubscribed: true }
    assert.equal((await program.call('POST', '/contacts', body)).status, 200)
    assert.match(
      await list(),
      /delivered.*\n\nIn the project .* the contact is unsubscribed: campaigns/s,
    )
  })

  it('a stopped server: the fact that no server runs', async (t) => {
    await program.receive('later.test', {
      respond: ({ verb }) => (verb === 'RCPT' ? '451 4.3.0 Not now' : undefined),
    })
    await program.send({ to: 'ada@later.test' })
    await explain(t, 'ada@later.test', /451 4\.3\.0 Not now/)
    await program.stop()
    const { list } = await explain(
      t,
      'ada@later.test',
      /451 4\.3\.0 Not now.* no server is running/,
    )
    assert.doesNotMatch(list, /did not answer/)
    const sites = await program.run('queue', 'sites')
    assert.match(sites.out, /^No server runs on this database/)
    const lift = await program.run('queue', 'sites', '--lift', 'later.test')
    assert.deepEqual([lift.status, lift.err], [0, ''])
    assert.match(lift.out, /^Nothing to lift\. No server runs/)
    await program.start()
  })
})

it('the rate of a project: the number of emails per second', async (t) => {
  const slow = await startProgram({ PILLARBOX_LIMITS__EMAILS_PER_SECOND: '1' })
  t.after(() => slow.close())
  await slow.receive('many.test')
  // One a second: the last one waits for longer than a busy machine needs to look twice.
  const names = Array.from({ length: 180 }, (_, index) => `user${index}@many.test`)
  await slow.send({ to: names })
  const reason = /waits for the rate limit of its project: 1 email a second/
  await explain(t, 'user179@many.test', reason, slow)
})
