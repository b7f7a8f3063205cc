/**
 * Calls of recipients, who have no key. The signed token in the links to the hosted pages gives
 * access to the address and the subscription of one contact.
 */
import { z } from 'zod'
import { notFound } from '../../../base/errors.ts'
import type { Core } from '../../../core/core.ts'
import { findPageContact } from '../../../features/people/contacts/read/public-contact.ts'
import { changeSubscription } from '../../../features/people/contacts/write/subscription-request.ts'
import type { PageToken } from '../../../formats/signed-tokens.ts'
import { contactExample } from '../../../records/contact.ts'
import { LANGUAGES } from '../../../texts/languages.ts'
import { attribution, readPageLink } from '../../page-link.ts'
import { json } from '../../response.ts'
import { openOperation } from '../../route.ts'

const contact = z
  .object({
    id: z.string().nullable().meta({ description: 'Null once the contact was deleted' }),
    email: z
      .string()
      .nullable()
      .meta({ format: 'email', description: 'Null when the address is no longer stored' }),
    subscribed: z.boolean(),
    language: z
      .enum(LANGUAGES)
      .meta({ description: "The language of the contact's pages and footers" }),
  })
  .meta({ id: 'PublicContact' })

const shared = {
  isUnlogged: true,
  tag: 'Contacts',
  params: { id: 'The signed token in the links to the hosted pages, not the id of the contact' },
  refusals: [404],
} as const

const EXAMPLE_TOKEN = 'aganuugytc7xbovouv7ozyhtk4agrfwgi6yyz4sm6tpgo2svgk5a3k7l3fcoctmr4xha'

type Deps = { core: Pick<Core, 'store' | 'config' | 'keyring' | 'now'> }

export const get = ({ core }: Deps) =>
  openOperation({
    ...shared,
    summary: 'Show the contact of a token',
    responses: { 200: { description: 'The contact', schema: contact } },
    example: () => ({
      params: { id: EXAMPLE_TOKEN },
      status: 200,
      response: {
        id: contactExample.id,
        email: contactExample.email,
        subscribed: true,
        language: 'en',
      },
    }),
    handle: async ({ params }) => {
      const found = (await findPageContact(core, getPage(core, params.id))) ?? refuse(params.id)
      const { id, address, subscribed, language } = found
      return json(200, { id, email: address, subscribed, language })
    },
  })

export const subscribe = (deps: Deps) =>
  changeOperation(deps, { summary: 'Subscribe the contact', subscribed: true })

export const unsubscribe = (deps: Deps) =>
  changeOperation(deps, { summary: 'Unsubscribe the contact', subscribed: false })

type WishChange = { summary: string; subscribed: boolean }

function changeOperation({ core }: Deps, { summary, subscribed }: WishChange) {
  return openOperation({
    ...shared,
    summary,
    query: attribution,
    responses: {
      200: {
        description: 'The contact after the change',
        schema: contact.omit({ language: true }),
      },
    },
    example: () => ({
      params: { id: EXAMPLE_TOKEN },
      status: 200,
      response: { id: contactExample.id, email: contactExample.email, subscribed },
    }),
    handle: async ({ params, query }) => {
      const page = getPage(core, params.id)
      const wish = { subscribed, reason: 'api', statedEmailId: query.e } as const
      const changed = (await changeSubscription(core, page, wish)) ?? refuse(params.id)
      return json(200, { id: changed.id, email: changed.address, subscribed: changed.subscribed })
    },
  })
}

/** @throws AppError RESOURCE_NOT_FOUND */
function getPage(core: Deps['core'], token: string | undefined): PageToken {
  return readPageLink(core, token) ?? refuse(token)
}

function refuse(token: string | undefined): never {
  throw notFound('contact', token ?? '', 'There is no such contact.')
}
