import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { startReceivingDomains } from '../../../../../src/features/incoming/receiving/accept/admit-recipient.ts'
import { deleteDomain } from '../../../../../src/features/mail/domains/domains.ts'
import { verifyDomain } from '../../../../../src/features/mail/domains/verify.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { domains } from '../../../../../src/store/schema/domains.ts'
import { addProject, HOSTNAME, openTestCore, trustDomain } from '../../../../core.ts'
import { PATIENCE_MS } from '../../../../patience.ts'

test('contains the hosts of this server and the domains with mailboxes here, and follows changes', async (t) => {
  const core = await openTestCore(t)
  const project = await addProject(core)
  await trustDomain(core, project.id, 'first.test')
  const id = await trustDomain(core, project.id, 'second.test')
  const plain = { isTrusted: false, isVerified: true }
  await core.store.write((tx) => tx.update(domains).set(plain).where(eq(domains.id, id)))
  const { domains: known, stop } = await startReceivingDomains(core)
  t.after(stop)
  const until = async (domain: string, expected: boolean) => {
    const endsAt = performance.now() + PATIENCE_MS
    while (known.has(domain) !== expected) {
      assert.ok(performance.now() < endsAt, `${domain} is still ${expected ? 'missing' : 'known'}`)
      await turn()
    }
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

test('a slow read does not replace the result of a later one', async (t) => {
  const core = await openTestCore(t)
  const reads: ((rows: { domain: string }[]) => void)[] = []
  const where = () => new Promise((resolve) => reads.push(resolve))
  const scan = { select: () => ({ from: () => ({ where }) }) }
  let drop: () => void = () => undefined
  const directory = {
    ...core.directory,
    onDrop: (listener: () => void) => {
      drop = listener
      return () => undefined
    },
  }
  const store = { ...core.store, scan } as unknown as typeof core.store
  const starting = startReceivingDomains({ ...core, store, directory })
  reads[0]?.([])
  const { domains: known } = await starting
  drop()
  drop()
  for (const [read, domain] of [
    [2, 'new.test'],
    [1, 'old.test'],
  ] as const) {
    reads[read]?.([{ domain }])
    await turn()
  }
  assert.deepEqual([known.has('new.test'), known.has('old.test')], [true, false])
})
