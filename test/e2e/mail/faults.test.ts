/** Faults of other systems while mail is on its way, and a stop under load. */
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { emails } from '../../../src/store/schema/messages.ts'
import { longestCallMs } from '../../cpu-time.ts'
import { drop, type SinkAction, type SinkCommand } from '../../fakes/smtp-sink.ts'
import { eventually, type Program, startProgram } from '../program.ts'
import type { ShownEmail } from './shown-email.ts'

let program: Program

before(async () => {
  program = await startProgram({ PILLARBOX_DELIVERY__RETRY_SCHEDULE: '["100ms"]' })
})

after(() => program.close())

function idOf(message: string): string {
  return /^message-id: *<([^@>]+)@example\.test>/im.exec(message)?.[1] ?? ''
}

/** Of requests while a template renders for a second. */
const ROUNDS = 10
/** Of processor time, in one piece: the template takes twice that, everything else far less. */
const LONGEST_CALL_MS = 500

describe('faults', () => {
  it('F2: a peer whose connection breaks during the message gets the same message again', async () => {
    const stages = ['MAIL', 'RCPT', 'DATA', 'MESSAGE']
    const copies: string[] = []
    const vanishAt = (stage: string) => (command: SinkCommand) => {
      if (command.verb === 'MESSAGE' && stage === 'MESSAGE') copies.push(command.line)
      return command.verb === stage && command.count === 1 ? drop : undefined
    }
    const trySending = async (stage: string) => {
      const domain = `${stage.toLowerCase()}.test`
      const sink = await program.receive(domain, { respond: vanishAt(stage) })
      const [id = ''] = await program.send({ to: `ada@${domain}` })
      await program.untilState(id, 'delivered')
      const { attempts } = (await program.command('queue', 'show', id)) as ShownEmail
      assert.deepEqual(
        attempts.map(({ result, maybeDelivered }) => [result, maybeDelivered]),
        [
          ['deferred', stage === 'MESSAGE'],
          ['delivered', false],
        ],
        stage,
      )
      const { out } = await program.run('queue', 'show', id)
      assert.equal(
        out.includes('may have accepted the message nevertheless'),
        stage === 'MESSAGE',
        out,
      )
      assert.equal(sink.messages.length, 1)
      assert.equal(idOf(sink.messages[0]?.bytes.toString('latin1') ?? ''), id)
    }
    await Promise.all(stages.map(trySending))
    const unsigned = copies.map((copy) => copy.slice(copy.search(/^From:/m)))
    assert.equal(copies.length, 2)
    assert.equal(unsigned[0], unsigned[1])
  })

  it('F4: an unreachable or silent destination delays no other mail', async (t) => {
    type Listed = { to: string; state: string; attempts: number }
    const program = await startProgram({ PILLARBOX_DELIVERY__RETRY_SCHEDULE: '["5s"]' })
    t.after(program.close)
    const live = await program.receive('live.test')
    program.dns.set('dead.test', { MX: [[10, 'mx.dead.test']] })
    program.dns.set('mx.dead.test', { A: ['127.0.0.250'] })
    program.dns.set('silent.test', 'SILENT')
    // Its sessions wait for a greeting until the end of the test.
    const held: Socket[] = []
    const firstHeld = Promise.withResolvers<void>()
    let isOver = false
    const hold: SinkAction = (socket) => {
      if (isOver) socket.destroy()
      else held.push(socket)
      firstHeld.resolve()
    }
    await program.receive('held.test', {
      respond: ({ verb }) => (verb === 'CONNECT' ? hold : undefined),
    })
    const to = (domain: string, count: number) =>
      Array.from({ length: count }, (_, at) => `user${at}@${domain}`)
    const lost = await program.send({
      to: [...to('held.test', 40), ...to('dead.test', 100), ...to('silent.test', 40)],
    })
    await firstHeld.promise
    await program.send({ to: to('live.test', 40) })
    await live.waitForMessages(40)
    const listed = (await program.command('queue', 'list')) as Listed[]
    const open = listed.filter(({ to }) => !to.endsWith('@live.test'))
    assert.equal(open.length, lost.length)
    const atDomain = (domain: string) => open.filter(({ to }) => to.endsWith(`@${domain}`))
    assert.ok(
      atDomain('held.test').some(({ state }) => state === 'sending'),
      'the live mail arrived before the attempts at a silent server ended',
    )
    const triedDead = atDomain('dead.test').filter(({ attempts }) => attempts > 0).length
    assert.ok(triedDead < 50, `${triedDead} emails were tried at a server that is not there`)
    isOver = true
    for (const socket of held) socket.destroy()
  })

  it('a server that is stopped under load finishes its mail in flight or puts it back', async (t) => {
    const sink = await program.receive('load.test')
    const accepted = new Set<string>()
    let isStopping = false
    const load = Array.from({ length: 2 }, async (_, sender) => {
      for (let round = 0; !isStopping; round += 1) {
        const ids = await program.send({ to: `u${sender}.${round}@load.test` }).catch(() => [])
        for (const id of ids) accepted.add(id)
      }
    })
    await sink.waitForMessages(20)
    await Promise.all([program.stop(), Promise.resolve().then(() => (isStopping = true))])
    await Promise.all(load)

    const rows = await program.core.store.scan
      .select({ id: emails.id, state: emails.state })
      .from(emails)
      .all()
    const states = new Map(rows.map(({ id, state }) => [id, state]))
    const inState = (...some: string[]) =>
      [...accepted].filter((id) => some.includes(states.get(id) ?? 'nowhere'))
    const arrived = sink.messages.map(({ bytes }) => idOf(bytes.toString('latin1')))
    const [done, waiting] = [inState('delivered'), inState('queued', 'deferred')]
    t.diagnostic(`${done.length} there, ${waiting.length} wait`)
    assert.equal(done.length + waiting.length, accepted.size)
    assert.deepEqual(new Set(arrived), new Set(done))

    await program.start()
    await eventually(() => (sink.acceptedCount() >= accepted.size ? true : undefined))
    const all = sink.messages.map(({ bytes }) => idOf(bytes.toString('latin1')))
    assert.equal(new Set(all).size, accepted.size, 'some are missing')
    assert.equal(all.length, accepted.size, 'some arrived twice')
  })

  it('F10: a template that renders for a second delays no request, and is still sent', async () => {
    const [slow, quick] = [await program.receive('slow.test'), await program.receive('quick.test')]
    const step = '{% assign sum = j | plus: i %}'
    const loop = `{% for i in (1..1000) %}{% for j in (1..1000) %}${step}{% endfor %}{% endfor %}`
    const body = `<p>${loop}Dear {{ email }}</p>`
    let rounds = 0
    const send = async () => {
      const [id = ''] = await program.send({ to: 'ada@slow.test', body })
      while (rounds < ROUNDS && slow.acceptedCount() === 0) {
        const { status } = await program.call('GET', '/health')
        await program.send({ to: 'eve@quick.test' })
        assert.equal(status, 200)
        rounds += 1
        if (rounds === 1) assert.equal(slow.acceptedCount(), 0, 'requests wait for the template')
      }
      return program.untilState(id, 'delivered')
    }
    // The thread of requests is this one, and the template would hold it.
    const sending = send()
    const longestMs = await longestCallMs(sending)
    assert.ok(longestMs < LONGEST_CALL_MS, `requests waited for ${longestMs} ms`)
    const { email } = await sending
    assert.deepEqual(
      email.templateFaults?.map(({ part, message }) => `${part}: ${message}`),
      ['body: rendering took longer than a second'],
    )
    assert.match(String(slow.messages[0]?.bytes), /Dear ada@slow\.test/)
    await quick.waitForMessages(rounds)
  })
})
