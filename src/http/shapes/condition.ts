/** A condition in a request. The feature `conditions` checks it; this is its JSON Schema for the description. */
import { z } from 'zod'
import { CONDITION_JSON_SCHEMA } from '../../features/ground/conditions/json-schema.ts'

export const conditionField = z.unknown().meta({ ...CONDITION_JSON_SCHEMA, id: 'Condition' })
