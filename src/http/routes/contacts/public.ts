/**
 * What a contact may do about itself without a key (contract 3.1): whoever holds the signed token
 * of its pages sees its address and state and changes the one thing there is to change.
 */
import { z } from 'zod'
import { notFound } from '../../../errors.ts'
import { findPublicContact } from '../../../features/contacts/read/public-contact.ts'
import { changeSubscription } from '../../../features/contacts/write/subscription.ts'
import type { Core } from '../../../features/core.ts'
import { LANGUAGES } from '../../../mail/languages.ts'
import type { PageToken } from '../../../mail/signed-tokens.ts'
import { json, openRoute, type Route } from '../../route.ts'
import { attribution, readPageLink } from '../../shapes/page-link.ts'

const contact = z
  .object({
    id: z.string(),
    email: z.string().meta({ format: 'email' }),
    subscribed: z.boolean(),
    language: z
      .enum(LANGUAGES)
      .meta({ description: 'Of the pages and the footer of this contact' }),
  })
  .meta({ id: 'PublicContact' })

const shared = {
  permission: 'none',
  isUnlogged: true,
  tag: 'Contacts',
  params: { id: 'The signed token in the links to the hosted pages, never the id of a contact' },
  refusals: [404],
} as const

type Deps = Pick<Core, 'store' | 'keyring' | 'now'>

export function publicContactRoutes(core: Deps): Route[] {
  return [
    openRoute({
      ...shared,
      method: 'GET',
      path: '/contacts/public/:id',
      summary: 'The contact that a token speaks for',
      responses: { 200: { description: 'The contact', schema: contact } },
      handle: async ({ params }) => {
        const { contactId } = getPage(core, params.id)
        return json(200, (await findPublicContact(core, contactId)) ?? refuse(params.id))
      },
    }),
    changeRoute(core, { verb: 'subscribe', subscribed: true }),
    changeRoute(core, { verb: 'unsubscribe', subscribed: false }),
  ]
}

function changeRoute(core: Deps, { verb, subscribed }: { verb: string; subscribed: boolean }) {
  return openRoute({
    ...shared,
    method: 'POST',
    path: `/contacts/public/:id/${verb}`,
    summary: `Let the contact ${verb}`,
    query: attribution,
    responses: {
      200: { description: 'As it is now', schema: contact.omit({ language: true }) },
    },
    handle: async ({ params, query }) => {
      const page = getPage(core, params.id)
      const wish = { subscribed, reason: 'api', claimedEmailId: query.e } as const
      const changed = (await changeSubscription(core, page, wish)) ?? refuse(params.id)
      return json(200, { id: changed.id, email: changed.email, subscribed: changed.subscribed })
    },
  })
}

/** @throws AppError RESOURCE_NOT_FOUND */
function getPage(core: Deps, token: string | undefined): PageToken {
  return readPageLink(core, token) ?? refuse(token)
}

function refuse(token: string | undefined): never {
  throw notFound('contact', token ?? '', 'There is no such contact.')
}
