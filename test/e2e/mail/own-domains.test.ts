import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { insertDomain } from '../../../src/features/mail/domains/domains.ts'
import { makeDomainKeys } from '../../../src/features/mail/domains/keys.ts'
import { inboundMessages } from '../../../src/store/schema/inbound.ts'
import { eventually, type Program, startProgram } from '../program.ts'

const HOST = '127.0.0.9'

let program: Program

before(async () => {
  const port = String(await findPort())
  program = await startProgram({
    PILLARBOX_DELIVERY__PORT: port,
    PILLARBOX_INBOUND__LISTEN: `["${HOST}:${port}"]`,
  })
  program.dns.set('mail.example.test', { A: [HOST] })
  for (const domain of ['example.test', 'two.test', 'stranger.test']) {
    program.dns.set(domain, { MX: [[10, 'mail.example.test']] })
  }
})

after(() => program.close())

/** Free a moment ago. */
async function findPort(): Promise<number> {
  const server = createServer().listen(0, HOST)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

describe('mail whose MX is this server', () => {
  it('arrives if this server has the mailboxes of the domain', async () => {
    const { core, project } = program
    const keys = await makeDomainKeys(core)
    await core.store.write((tx) =>
      insertDomain(tx, {
        ...{ projectId: project.id, domain: 'two.test', keys, isTrusted: true, at: core.now() },
      }),
    )
    for (const to of ['info@example.test', 'info@two.test']) {
      // The server notices the other process's new domain a moment later.
      await eventually(async () => {
        const [id = ''] = await program.send({ to })
        const { email } = await program.untilState(id, 'delivered', 'failed')
        return email.state === 'delivered' || undefined
      })
      const rows = await core.store.read.select().from(inboundMessages).orderBy(inboundMessages.id)
      const recipient = { for: 'mailbox', address: to, projectId: project.id }
      assert.deepEqual(rows.at(-1)?.recipients, [recipient])
    }
  })

  it('arrives at the operator if it is addressed to the host name of this server', async () => {
    const [id = ''] = await program.send({ to: 'abuse@mail.example.test' })
    await program.untilState(id, 'delivered')
    const listed = (await program.command('inbound', 'list')) as { to: string[] }[]
    assert.deepEqual(listed[0]?.to, ['abuse@mail.example.test'])
  })

  it('S12: fails as a loop for any other domain and is never received', async () => {
    const count = await program.core.store.read.$count(inboundMessages)
    const [id = ''] = await program.send({ to: 'info@stranger.test' })
    const { email } = await program.untilState(id, 'failed')
    assert.match(email.error ?? '', /loops back to this server/)
    assert.equal(await program.core.store.read.$count(inboundMessages), count)
  })
})
