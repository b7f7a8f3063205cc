/** The fields of contacts in the API: their types, values and uses. */
import { z } from 'zod'
import { countParameter } from './page.ts'

export const fieldList = z.object({
  fields: z.array(
    z.object({
      field: z.string().meta({ examples: ['email', 'data.plan'] }),
      type: z.enum(['string', 'number', 'boolean', 'date']),
      coverage: z
        .int()
        .min(0)
        .max(100)
        .meta({ description: 'Percentage of the contacts that have the field' }),
    }),
  ),
  count: z.int(),
})

export const valuesQuery = z.object({ limit: countParameter({ fallback: 100, cap: 200 }) })

export const fieldValues = z.object({
  field: z.string(),
  values: z.array(z.union([z.string(), z.number(), z.boolean()])),
  count: z.int().meta({ description: 'The number of values in the list' }),
  limit: z.int(),
})

const uses = z.array(z.object({ id: z.string(), name: z.string() }))

export const fieldUsage = z.object({
  usedInSegments: uses,
  usedInCampaigns: uses,
  usedInWorkflows: uses,
  contactCount: z.int().meta({ description: 'The number of contacts that have the field' }),
  canDelete: z.boolean(),
})

/** `jobId`: the job that deletes the field; absent if the field is already deleted. */
export const fieldDeletion = z.object({
  deletedFrom: z.int().meta({ description: 'The number of contacts that had the field' }),
  jobId: z.string().optional(),
})

export type ContactField = z.output<typeof fieldList>['fields'][number]
export type FieldValues = z.output<typeof fieldValues>
export type FieldUsage = z.output<typeof fieldUsage>
export type FieldDeletion = z.output<typeof fieldDeletion>
