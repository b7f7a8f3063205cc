/** `npm run client`: writes the types of the API's clients, `src/client/types.d.ts`, anew from the route table. */
import { writeFileSync } from 'node:fs'
import { readDescription } from './client/read-description.ts'
import { CLIENT_TYPES, writeClientTypes } from './client/write-types.ts'

writeFileSync(CLIENT_TYPES, writeClientTypes(await readDescription()))
