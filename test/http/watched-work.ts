/** Who uses what all projects share, during each request. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { currentOwner } from '../../src/turns/owner.ts'
import type { TestCore } from '../core.ts'

export type Use = { of: string; key: string; hasClient: boolean }

const STARTED = 'http.server.request.start'

/** `listUses` runs a request, and returns the uses that belong to it. */
export function watchWork(core: TestCore) {
  /** The uses of the request that runs. */
  const requests = new AsyncLocalStorage<Use[]>()
  let current: Use[] = []
  const follow = () => requests.enterWith(current)
  subscribe(STARTED, follow)
  const note = (of: string) => {
    const { key, client } = currentOwner()
    requests.getStore()?.push({ of, key, hasClient: client !== undefined })
  }
  for (const [parts, name] of [
    [core.store, 'scan'],
    [core, 'outbound'],
    [core.verifier, 'dns'],
  ] as const) {
    Object.assign(parts, { [name]: watched(name, Object(parts)[name], note) })
  }
  return {
    async listUses(run: () => Promise<unknown>): Promise<readonly Use[]> {
      const uses: Use[] = []
      current = uses
      await run()
      return uses
    },
    stop: () => void unsubscribe(STARTED, follow),
  }
}

/** Notes each call of a method. */
function watched<Part extends object>(name: string, part: Part, note: (of: string) => void): Part {
  return new Proxy(part, {
    get(target, member) {
      const value = Reflect.get(target, member)
      if (typeof value !== 'function') return value
      return (...given: unknown[]) => {
        note(`${name}.${String(member)}`)
        return value.apply(target, given)
      }
    },
  })
}
