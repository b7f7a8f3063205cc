/** One server for a test file of contacts, events or segments, and short calls to it with curl. */
import assert from 'node:assert/strict'
import { before } from 'node:test'
import { cleanUpAfterFile } from '../../file-cleanup.ts'
import { type Answer, type Client, isCurlInstalled, startClient } from './curl.ts'

export const unlessCurl = { skip: isCurlInstalled ? false : 'curl is not installed' }

let client: Client

/** A server for the tests of this file. */
export function serveFile(): void {
  const cleanup = cleanUpAfterFile()
  before(async () => {
    client = await startClient(cleanup)
  })
}

export const the = () => client
export const curl: Client['curl'] = (...args) => client.curl(...args)
export const addressOf = (name: string) => client.address(name)
export const untilDone = (route: string) => client.untilDone(route)

export function refused(answer: Answer, status: number, code: string, field?: string): void {
  assert.equal(answer.status, status, answer.text)
  assert.equal(answer.body.success, false)
  assert.equal(answer.body.error.code, code)
  assert.equal(answer.body.error.statusCode, status)
  assert.ok(answer.body.error.requestId)
  if (field === undefined) return
  const fields = answer.body.error.errors.map((each: { field: string }) => each.field)
  assert.ok(fields.includes(field), `${field} is none of ${fields}`)
}

export async function save(name: string, more: Record<string, unknown> = {}) {
  const answer = await curl('POST', '/contacts', { body: { email: addressOf(name), ...more } })
  assert.ok([200, 201].includes(answer.status), answer.text)
  return answer.body
}

/** The contact of that name as lists show it; undefined when there is none. */
export async function find(name: string) {
  const search = encodeURIComponent(addressOf(name))
  const { body } = await curl('GET', `/contacts?search=${search}`)
  return body.data.find(({ email }: { email: string }) => email === addressOf(name))
}

export async function eventsOf(contactId: string): Promise<{ name: string; data: unknown }[]> {
  const { body } = await curl('GET', `/events/contact/${contactId}`)
  return body.events
}

/** A condition of one filter. */
export function filter(field: string, operator: string, value?: unknown, unit?: string) {
  return { logic: 'AND', groups: [{ filters: [{ field, operator, value, unit }] }] }
}
