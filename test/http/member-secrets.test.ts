/**
 * Walks all routes as a member without the role ADMIN: no response shows a secret of the project. The walk
 * makes its calls from the examples, and plants a step with such a header in all workflows as it goes.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openSecrets } from '../../src/features/outreach/webhooks/signing.ts'
import { eq } from '../../src/store/drizzle.ts'
import { newId } from '../../src/store/ids.ts'
import { domains } from '../../src/store/schema/domains.ts'
import { webhookEndpoints, webhookSigningSecrets } from '../../src/store/schema/webhooks.ts'
import { workflowSteps, workflows } from '../../src/store/schema/workflows.ts'
import { addMember, addUser, logIn } from '../session.ts'
import { bindIds } from './example-match.ts'
import { createExampleDns, exampleOptions } from './example-preparations.ts'
import { contentOf, createExampleRunner, type Headers } from './example-runner.ts'
import { exampleSequence } from './example-sequence.ts'
import { useService } from './service.ts'

const AUTHORIZATION = 'Bearer sentinel-of-a-step'
const MEMBERS: readonly string[] = ['member', 'member of :id', 'member of :id or its key']

const dns = createExampleDns()
const member: Headers = {}
const started = useService(exampleOptions(dns), async ({ service: { core }, mine }) => {
  const { id: userId } = await addUser(core)
  await addMember(core, { projectId: mine.id, userId, role: 'MEMBER' })
  Object.assign(member, { cookie: await logIn(core, userId), 'x-project-id': mine.id })
})

/** Gives each workflow a WEBHOOK with a header that authenticates. */
async function plant(): Promise<void> {
  const { store, now } = started.service.core
  const config = { url: 'https://hooks.test/in', headers: { Authorization: AUTHORIZATION } }
  const times = { createdAt: now(), updatedAt: now() }
  await store.write(async (tx) => {
    await tx.delete(workflowSteps).where(eq(workflowSteps.name, 'planted'))
    for (const { id: workflowId, projectId } of await tx.select().from(workflows)) {
      await tx.insert(workflowSteps).values({
        ...{ id: newId(), workflowId, projectId, type: 'WEBHOOK', name: 'planted' },
        ...{ position: { x: 0, y: 0 }, config, ...times },
      })
    }
  })
}

/** All secrets of all projects, by what they are. */
async function listSecrets(): Promise<Record<string, string[]>> {
  const { core, mine, other } = { ...started, core: started.service.core }
  const { keyring, now } = core
  const open = (rows: Parameters<typeof openSecrets>[1][]) =>
    rows.flatMap((row) => openSecrets({ keyring }, row, now()))
  const { read } = core.store
  const keys = await read.select().from(domains)
  return {
    'the header of a step': [AUTHORIZATION],
    'a signing secret': [
      ...open(await read.select().from(webhookEndpoints)),
      ...open(await read.select().from(webhookSigningSecrets)),
    ],
    'a private key': keys.flatMap(({ rsaPrivateKey, ed25519PrivateKey }) => [
      ...[rsaPrivateKey, ed25519PrivateKey].map((sealed) => keyring.unseal(sealed)),
    ]),
    'a secret key': [mine.secret, other.secret],
  }
}

describe('S30: a member without the role ADMIN', () => {
  const runner = createExampleRunner(started, dns)
  const seen = new Set<string>()
  for (const step of exampleSequence) {
    it(step.name, async () => {
      const { example, send, callers, credentials, pathId } = await runner.prepare(step)
      const isMine = pathId === undefined || pathId === started.mine.id
      const isOfPath = callers.endsWith('of :id') || callers.endsWith('its key')
      const isOpenToMembers = MEMBERS.includes(callers) && step.cookie === undefined
      const asMember = isOpenToMembers && (isMine || !isOfPath)
      if (asMember) await plant()
      const before = asMember ? await listSecrets() : {}
      const answer = await send(asMember ? member : credentials)
      const { text, headers, status } = answer
      bindIds(example.response, contentOf(answer), runner.bindings)
      if (!asMember) return
      if (status < 400) seen.add(step.name)
      const shown = (text ?? '') + JSON.stringify(headers)
      for (const [name, values] of [
        ...Object.entries(before),
        ...Object.entries(await listSecrets()),
      ]) {
        for (const value of values) assert.equal(shown.includes(value), false, name)
      }
    })
  }

  it('made calls that show masks, and many others', () => {
    const masked = ['GET /workflows/:id', 'PATCH /workflows/:id', 'GET /webhooks/signing-secret']
    for (const name of masked) assert.ok(seen.has(name), name)
    assert.ok(seen.size > 100, String(seen.size))
  })
})
