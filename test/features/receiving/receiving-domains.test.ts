import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { deleteDomain } from '../../../src/features/domains/delete.ts'
import { verifyDomain } from '../../../src/features/domains/verify.ts'
import { startReceivingDomains } from '../../../src/features/receiving/receiving-domains.ts'
import { eq } from '../../../src/store/drizzle.ts'
import { domains } from '../../../src/store/schema/domains.ts'
import { addProject, HOSTNAME, openTestCore, trustDomain } from '../../core.ts'

test('knows our own hosts and the domains with mailboxes here, and follows changes', async (t) => {
  const core = await openTestCore(t)
  const project = await addProject(core)
  await trustDomain(core, project.id, 'first.test')
  const id = await trustDomain(core, project.id, 'second.test')
  const plain = { isTrusted: false, isVerified: true }
  await core.store.write((tx) => tx.update(domains).set(plain).where(eq(domains.id, id)))
  const { domains: known, stop } = await startReceivingDomains(core)
  t.after(stop)
  const until = async (domain: string, expected: boolean) => {
    while (known.has(domain) !== expected) await turn()
  }
  for (const host of [HOSTNAME, `bounce.${HOSTNAME}`, 'first.test'])
    assert.ok(known.has(host), host)
  for (const host of ['second.test', 'sub.first.test', 'elsewhere.test']) {
    assert.ok(!known.has(host), host)
  }
  await verifyDomain(core, { id }, { trust: true })
  await until('second.test', true)
  await deleteDomain(core, { projectId: project.id, id })
  await until('second.test', false)
  assert.ok(known.has('first.test'))
})
