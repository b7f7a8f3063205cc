/**
 * How clients use the types: what is right compiles, and each `@ts-expect-error` would be an error of its own
 * if its line compiled.
 */
import type {
  Campaign,
  ErrorCode,
  ErrorEnvelope,
  Operations,
  PublicErrorEnvelope,
} from '../../src/client/types.d.ts'

type Input<Name extends keyof Operations> = Pick<Operations[Name], 'params' | 'query' | 'body'>

declare function call<Name extends keyof Operations>(
  name: Name,
  input: Input<Name>,
): Promise<Operations[Name]['answer']>

const none = { params: {}, query: {}, body: null }
const byId = { ...none, params: { id: 'an id' } }

export async function rightUses() {
  const page = await call('GET /emails', { ...none, query: { source: 'CAMPAIGN', limit: 100 } })
  const subjects: string[] = page.data.map(({ subject }) => subject)
  const cursor: string | null = page.cursor

  const body = { subject: 'Hello' }
  const { data, warnings } = await call('PUT /campaigns/{id}', { ...byId, body })
  const campaign: Campaign = data
  const ignored: string[] = warnings?.map(({ field }) => field) ?? []

  const nothing: null = await call('DELETE /contacts/{id}', byId)
  const form = new FormData()
  const upload = await call('POST /uploads/image', { ...none, body: form })
  return [subjects, cursor, campaign, ignored, nothing, upload.url]
}

export async function wrongUses() {
  // @ts-expect-error There is no such operation.
  call('GET /mails', none)
  // @ts-expect-error A hidden page is no operation for clients.
  call('GET /t/c/{token}', none)
  // @ts-expect-error The path has a parameter.
  call('GET /emails/{id}', none)
  // @ts-expect-error The list has no such filter.
  call('GET /emails', { ...none, query: { sauce: 'CAMPAIGN' } })
  // @ts-expect-error The filter has no such value.
  call('GET /emails', { ...none, query: { source: 'NEWSLETTER' } })
  // @ts-expect-error The operation has no query.
  call('GET /emails/{id}', { ...byId, query: { limit: 1 } })
  // @ts-expect-error The body has no such field.
  call('PUT /campaigns/{id}', { ...byId, body: { subjekt: 'Hello' } })
  // @ts-expect-error The field is a text.
  call('PUT /campaigns/{id}', { ...byId, body: { subject: 1 } })
  // @ts-expect-error The body lacks a required field.
  call('POST /templates', { ...none, body: { name: 'Welcome' } })
  // @ts-expect-error The operation takes a body.
  call('POST /templates', none)
  // @ts-expect-error The record has no such field.
  ;(await call('GET /emails/{id}', byId)).betreff
}

/** A switch over all codes needs no default. */
export function isOurFault({ error }: ErrorEnvelope | PublicErrorEnvelope): boolean {
  const code: ErrorCode = error.code
  // @ts-expect-error There is no such code.
  if (code === 'TEAPOT') return false
  return code === 'INTERNAL_SERVER_ERROR' || error.errors?.[0]?.field === 'never'
}
