/** Records that the examples of operations make, for tests that go over many routes and need no others. */
import { findExample } from './listed-routes.ts'
import type { StartedService } from './service.ts'

type Started = Pick<StartedService, 'call' | 'service'>

/**
 * Sends the example of POST at the path of a route, to `url` if that path has parameters. Returns the id of the record.
 * @throws TypeError if there is no such route with an example
 */
export async function makeByExample(
  { call, service }: Started,
  path: string,
  url = path,
): Promise<string> {
  const example = findExample(service.core, `POST ${path}`)
  if (example === undefined) throw new TypeError(`POST ${path} has no example`)
  const { body } = await call('post', url).send(Object(example.request)).expect(example.status)
  return body.id ?? body.data?.id
}

/**
 * Replaces each parameter in the path of a route with the id of a record: `/segments/:id/check` needs a segment.
 * `findId`: the id of a record at the path before the parameter, `/segments`; by default of a new one.
 */
export async function fillPath(
  started: Started,
  path: string,
  findId: (parent: string) => string | undefined = () => undefined,
): Promise<string> {
  let url = ''
  let read = ''
  for (const part of path.slice(1).split('/')) {
    const isParameter = part.startsWith(':')
    url += `/${isParameter ? (findId(read) ?? (await makeByExample(started, read, url))) : part}`
    read += `/${part}`
  }
  return url
}
