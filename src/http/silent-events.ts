/** Warns of names of segment events in a request if these events do not occur. */
import { findSilentEvents } from '../features/people/segments/silent-events.ts'
import type { RawCall, RouteDeps } from './route.ts'

/** `field`: the place of the name in the request. */
type Named = { field: string; name: unknown }

export async function warnOfSilentEvents(
  { store }: RouteDeps['core'],
  { project, warn }: { project: { id: string }; warn: RawCall['warn'] },
  named: readonly Named[],
): Promise<void> {
  const names = named.flatMap(({ name }) => (typeof name === 'string' ? [name] : []))
  const silent = await findSilentEvents(store.read, project.id, names)
  for (const { field, name } of named) {
    const found = silent.get(String(name))
    if (found === undefined) continue
    warn({ field, message: `${found.why} ${found.fix}`, suggestion: found.suggestion })
  }
}

/** The event that the config of a step or a trigger names. */
export function eventOf(config: unknown, path: string): Named {
  const name = Object(config).eventName as unknown
  return { field: `${path}.eventName`, name }
}
