/** A route: a method and a path, the callers it admits, and the operation that it runs. */
import type { Callers, KeyCallers } from '../features/accounts/caller.ts'
import type { CallerCall, Operation, RawCall } from './operation.ts'
import type { HttpResponse } from './response.ts'

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type Method = (typeof METHODS)[number]

export type Route = Omit<Operation<RawCall>, 'growsDisk' | 'run'> & {
  method: Method
  /** `/templates/:id` */
  path: string
  callers: Callers
  growsDisk: boolean
  run(call: RawCall): Promise<HttpResponse>
}

type Place = { method: Method; path: string }

/** A route without authentication. */
export function openRoute(place: Place, operation: Operation<RawCall>): Route {
  const { growsDisk = false } = operation
  return { ...operation, ...place, callers: 'anyone', growsDisk }
}

/** A route for callers with one of a project's keys. */
export function keyRoute(
  { callers, ...place }: Place & { callers: KeyCallers },
  operation: Operation<CallerCall>,
): Route {
  const { growsDisk = !['GET', 'DELETE'].includes(place.method) } = operation
  return {
    ...operation,
    ...place,
    callers,
    growsDisk,
    run: async (call) => {
      const { caller } = call
      if (caller === null) throw new TypeError(`${place.path} was called without a caller`)
      return operation.run({ ...call, caller })
    },
  }
}
