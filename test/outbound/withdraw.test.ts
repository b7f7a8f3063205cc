import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silence } from '../fakes/smtp-sink.ts'
import { makeTasks, useOutbound } from './harness.ts'

const { sinksOf, start } = useOutbound()

const zone = {
  'a.test': { MX: [[10, 'mx.a.test']] as [number, string][] },
  'mx.a.test': { A: ['127.0.0.2'] },
}

test('withdrawn deliveries come back without an attempt, and others are delivered', async () => {
  const busy = Promise.withResolvers<void>()
  const [sink] = await sinksOf({
    ehlo: [],
    respond: ({ verb, line }) => {
      if (verb !== 'RCPT' || !line.includes('mine')) return undefined
      busy.resolve()
      return silence
    },
  })
  const { outbound, reported } = await start({ zone, delivery: { port: sink!.port } })
  const shared = { domain: 'a.test', queueClass: 10 } as const
  const mine = makeTasks(3, { ...shared, group: 'campaign', recipient: 'mine@a.test' })
  const others = makeTasks(2, { ...shared, group: null })
  outbound.deliver([...mine, ...others])
  await busy.promise
  outbound.withdraw(new Set(['campaign', 'unknown']))
  const reports = await reported(5)
  const kinds = new Map(reports.map(({ emailId, kind }) => [emailId, kind]))
  for (const { emailId } of mine) assert.equal(kinds.get(emailId), 'put back')
  for (const { emailId } of others) assert.equal(kinds.get(emailId), 'attempted')
  const recipients = sink?.messages.map(({ to }) => to[0]).sort()
  assert.deepEqual(recipients, others.map(({ recipient }) => recipient).sort())
  assert.equal(outbound.inFlight(), 0)
})

test('deliveries whose destination is being looked up can be withdrawn', async () => {
  const [sink] = await sinksOf({})
  const { outbound, reported } = await start({ zone, delivery: { port: sink!.port } })
  const [mine] = makeTasks(1, { domain: 'a.test', group: 'campaign' })
  const [other] = makeTasks(1, { domain: 'a.test' })
  outbound.deliver([mine!, other!])
  outbound.withdraw(new Set(['campaign']))
  const reports = await reported(2)
  assert.deepEqual(
    reports.map(({ emailId, kind }) => [emailId, kind]),
    [
      [mine?.emailId, 'put back'],
      [other?.emailId, 'attempted'],
    ],
  )
  assert.equal(outbound.inFlight(), 0)
})
