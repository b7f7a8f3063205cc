/**
 * Runs every operation, and looks at whose work it gives to what all projects share: threads for scans and
 * previews, and resolvers. Work of nobody would wait in no line, and no limit would apply to it.
 */
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'
import { test } from 'node:test'
import { currentOwner } from '../../src/turns/owner.ts'
import { match } from './example-match.ts'
import { contentOf, createExampleRunner } from './example-runner.ts'
import { createExampleDns, exampleOptions, exampleSequence } from './example-sequence.ts'
import { useService } from './service.ts'

type Use = { of: string; key: string; hasClient: boolean }

/** The operation of the request that runs. */
const operations = new AsyncLocalStorage<{ uses: Use[] }>()
let current: { uses: Use[] } = { uses: [] }
subscribe('http.server.request.start', () => operations.enterWith(current))

const dns = createExampleDns()
const started = useService(exampleOptions(dns), ({ service: { core } }) => {
  for (const [parts, name] of [
    [core.store, 'scan'],
    [core, 'outbound'],
    [core.verifier, 'dns'],
  ] as const) {
    Object.assign(parts, { [name]: watched(name, Object(parts)[name]) })
  }
})
const { bindings, prepare } = createExampleRunner(started, dns)

/** Records for whom each method is called within a request. */
function watched<Part extends object>(name: string, part: Part): Part {
  return new Proxy(part, {
    get(target, member) {
      const value = Reflect.get(target, member)
      if (typeof value !== 'function') return value
      return (...given: unknown[]) => {
        const { key, client } = currentOwner()
        const use = { of: `${name}.${String(member)}`, key, hasClient: client !== undefined }
        operations.getStore()?.uses.push(use)
        return value.apply(target, given)
      }
    },
  })
}

/** They change something before they read what they show of it, and so go on without their client. */
const CHANGE_FIRST = ['POST /emails/:id/cancel', 'POST /emails/:id/retry']

const used = new Set<string>()

for (const step of exampleSequence) {
  test(`S31: ${step.name} works in the line of its caller`, async () => {
    const { example, credentials, send } = await prepare(step)
    current = { uses: [] }
    const answer = await send(credentials)
    match(example.response, contentOf(answer), bindings)
    for (const { of, key, hasClient } of current.uses) {
      used.add(of)
      assert.equal(key, started.mine.id, of)
      // The result of a scan may be shared by several callers.
      const goesOn = of.startsWith('scan.') || CHANGE_FIRST.includes(step.name)
      assert.ok(hasClient || goesOn, `${of} goes on when the client leaves`)
    }
  })
}

test('the operations use what projects share', () => {
  const expected = ['scan.list', 'outbound.preview', 'outbound.inspect', 'dns.mx', 'dns.a']
  assert.deepEqual(
    expected.filter((one) => !used.has(one)),
    [],
  )
})
