/**
 * Contacts that get no mail: only these operations change them. Requests for one contact follow each
 * other, so its state is known, except for what follows from requests without an answer.
 */
import type { Answer } from '../client/api.ts'
import type { ContactRecord, ContactState } from '../history/history.ts'
import type { Operation } from '../plan/operations.ts'
import type { Handler, Traffic } from './traffic.ts'

const CONTACTS = 200
/** An answer that takes so long may come after the client has given up. */
const SLOW_MS = 25_000

export const saveContact: Handler = (traffic, operation) => {
  const contact = take(traffic, operation)
  if (contact === undefined) return Promise.resolve()
  return change(
    contact,
    { subscribed: operation.lots[1] < 0.7, revision: operation.number },
    (state) => save(traffic, contact, state),
  )
}

export const deleteContact: Handler = (traffic, operation) => {
  const contact = take(traffic, operation)
  if (contact?.id === undefined) return Promise.resolve()
  const path = `/contacts/${contact.id}`
  return change(contact, null, () =>
    traffic.main.api.ask({ method: 'DELETE', path, expects: [404] }),
  )
}

/** Creates it or, half of the time if it exists, changes it by its id. */
async function save(
  { main }: Traffic,
  contact: ContactRecord,
  state: NonNullable<ContactState>,
): Promise<Answer> {
  const { subscribed, revision } = state
  const fields = { subscribed, data: { revision } }
  if (contact.id !== undefined && revision % 2 === 0) {
    const path = `/contacts/${contact.id}`
    return main.api.ask({ method: 'PATCH', path, body: fields, expects: [404] })
  }
  const body = { email: contact.email, ...fields }
  const answer = await main.api.ask({ method: 'POST', path: '/contacts', body })
  if (answer.outcome === 'acknowledged') contact.id = (answer.body as { id: string }).id
  return answer
}

async function change<State extends ContactState>(
  contact: ContactRecord,
  state: State,
  act: (state: State) => Promise<Answer>,
): Promise<void> {
  contact.isBusy = true
  const startedAt = Date.now()
  try {
    settle(contact, state, await act(state))
  } finally {
    contact.isBusy = false
    if (Date.now() - startedAt > SLOW_MS) contact.isRetired = true
  }
}

/** 404 says that there is no such contact, whatever was asked. */
function settle(contact: ContactRecord, state: ContactState, { outcome, status }: Answer): void {
  if (outcome === 'unknown') {
    contact.possible.push(state)
    return
  }
  if (outcome === 'refused' && status !== 404) return
  contact.acknowledged += 1
  contact.possible = [status === 404 ? null : state]
  if (contact.possible[0] === null) contact.id = undefined
}

/** A contact that nothing is asked for at the moment; undefined if there is none near the lot. */
function take({ history }: Traffic, { lots }: Operation): ContactRecord | undefined {
  const email = `c${Math.floor(lots[0] * CONTACTS)}@people.test`
  const contact = history.contacts.get(email) ?? {
    ...{ email, id: undefined, possible: [null], acknowledged: 0 },
    ...{ isBusy: false, isRetired: false },
  }
  history.contacts.set(email, contact)
  return contact.isBusy || contact.isRetired ? undefined : contact
}
