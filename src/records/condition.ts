/** A condition in requests: its JSON Schema, for the description. `parseCondition` checks conditions. */
import { z } from 'zod'
import { MAX_CONDITION_DEPTH, MAX_CONDITION_FILTERS, MAX_FILTER_VALUES } from './limits.ts'
import { OPERATORS, UNITS } from './operators.ts'

const FILTER = {
  type: 'object',
  required: ['field', 'operator'],
  additionalProperties: false,
  properties: {
    field: {
      type: 'string',
      description:
        'email, subscribed, createdAt, updatedAt, data.<key>, event.<name>, email.<activity> or segment.<id>',
      examples: ['data.plan', 'event.signed-up', 'email.opened'],
    },
    operator: { type: 'string', enum: [...OPERATORS] },
    value: {
      type: ['string', 'number', 'boolean', 'array'],
      items: { type: ['string', 'number', 'boolean'] },
      maxItems: MAX_FILTER_VALUES,
      description:
        'The value to compare the field with, a list of values for `in` and `notIn`, or the number of units in a span of time',
    },
    campaignId: {
      type: 'string',
      format: 'uuid',
      description: 'Of `email.<activity>`: what happened to the email of this campaign',
    },
    unit: { type: 'string', enum: [...UNITS], description: 'The unit of a span of time' },
  },
} as const

const NESTED = {
  type: 'object',
  description: `Another condition that must hold as well; at most ${MAX_CONDITION_DEPTH} levels deep`,
} as const

export const CONDITION_JSON_SCHEMA = {
  type: 'object',
  description: `Selects contacts: groups of filters, with at most ${MAX_CONDITION_FILTERS} filters in all`,
  required: ['logic', 'groups'],
  additionalProperties: false,
  properties: {
    logic: { type: 'string', enum: ['AND', 'OR'], description: 'How the groups are joined' },
    groups: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        description: 'All of its filters, and its nested condition, must hold',
        required: ['filters'],
        additionalProperties: false,
        properties: { filters: { type: 'array', items: FILTER }, conditions: NESTED },
      },
    },
  },
  examples: [
    {
      logic: 'AND',
      groups: [
        {
          filters: [
            { field: 'data.plan', operator: 'equals', value: 'pro' },
            { field: 'email.opened', operator: 'triggeredWithin', value: 30, unit: 'days' },
          ],
        },
      ],
    },
  ],
} as const

export const conditionField = z.unknown().meta({ ...CONDITION_JSON_SCHEMA, id: 'Condition' })

/** A condition that the contact of `contactExample` meets. */
export const conditionExample = {
  logic: 'AND',
  groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }],
}
