/**
 * Warnings about what a request saves: events that do not occur, errors in enabled workflows,
 * placeholders of other services.
 */
import type { FieldWarning } from '../base/errors.ts'
import { findForeignSyntax } from '../features/mail/templates/foreign-syntax.ts'
import { type Edited, findLiveError } from '../features/outreach/workflows/definition/validate.ts'
import { findSilentEvents } from '../features/people/segments/membership-events.ts'
import type { ProjectCall, RawCall, RouteDeps } from './route.ts'
import { uuidKeyOf } from './uuid-key.ts'

/** `field`: the place of the name in the request. */
type Named = { field: string; name: unknown }

/** Warns of names of segment events in a request if these events do not occur. */
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

/** Returns the event name in the config of a step or a trigger, with its place in the request. */
export function eventOf(config: unknown, path: string): Named {
  const name = Object(config).eventName as unknown
  return { field: `${path}.eventName`, name }
}

/**
 * Warns of an error in an edit of an enabled workflow, where the edit takes effect at once. `field`: the field of
 * the request that the warning names.
 */
export async function warnOfLiveError(
  core: RouteDeps['core'],
  call: ProjectCall<unknown, unknown>,
  { field, ...edited }: Edited & { field?: string } = {},
): Promise<void> {
  const found = await findLiveError(core, { ...uuidKeyOf(call), ...edited })
  if (found === undefined) return
  const isOfTemplate = found.code === 'no_template' || found.code === 'template_missing'
  call.warn({
    field: field ?? (isOfTemplate ? 'templateId' : 'config'),
    message: `The workflow is enabled, so executions meet an error: ${found.message}`,
    suggestion: found.fix,
  })
}

/** Warns of placeholders of other services: such a placeholder is sent unchanged, or prints nothing. */
export function warnOfForeign(
  { subject = '', body = '' }: { subject?: string | undefined; body?: string | undefined },
  warn: (warning: FieldWarning) => void,
): void {
  for (const [field, text] of Object.entries({ subject, body })) {
    for (const { message, fix } of findForeignSyntax([text])) {
      warn({ field, message: `${message} ${fix}`, suggestion: null })
    }
  }
}
