/** A condition in a request: the feature that knows the grammar checks it, and names what is wrong. */
import { z } from 'zod'
import { conditionJsonSchema } from '../../features/conditions/json-schema.ts'

export const conditionField = z.unknown().meta({ ...conditionJsonSchema, id: 'Condition' })
