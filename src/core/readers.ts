/** The readers of events, with the handlers that the areas hand in. */
import { startLazyReader, startUrgentReader } from '../features/ground/events/readers.ts'
import type { Follower } from '../work/follower.ts'
import { AREAS } from './areas.ts'
import type { Core } from './core.ts'

export function startReaders(core: Core): Pick<Follower, 'stop'> {
  const urgent = AREAS.flatMap(({ urgentHandlers = [] }) => urgentHandlers)
  const lazy = AREAS.flatMap(({ lazyHandlers = [] }) => lazyHandlers)
  const readers = [
    startUrgentReader(
      core,
      urgent.map((create) => create(core)),
    ),
    startLazyReader(
      core,
      lazy.map((create) => create(core)),
    ),
  ]
  return {
    async stop() {
      await Promise.all(readers.map(({ stop }) => stop()))
    },
  }
}
