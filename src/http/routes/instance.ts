/** `GET /config`: the features of this server, for clients that have not logged in. */
import { z } from 'zod'
import { describeInstance } from '../../features/tenancy/instance/public-config.ts'
import { json } from '../response.ts'
import { openOperation, type RouteDeps } from '../route.ts'

const enabled = z.object({ enabled: z.boolean() })
const port = z.int().nullable().meta({ description: 'Null: there is no such listener' })

const config = z
  .object({
    environment: z.enum(['sandbox', 'direct', 'relay']),
    urls: z.object({
      api: z.string(),
      dashboard: z.string(),
      landing: z.string(),
      wiki: z.string().nullable(),
    }),
    features: z.object({
      billing: enabled,
      storage: z.object({
        s3Enabled: z.boolean().meta({ description: 'Whether images can be uploaded' }),
      }),
      authProviders: z.object({
        github: z.boolean(),
        google: z.boolean(),
        oidc: z.object({ name: z.string() }).nullable(),
      }),
      signup: z.object({ signupsDisabled: z.boolean() }),
      email: z.object({ trackingToggleEnabled: z.boolean() }),
      smtp: z.object({
        enabled: z.boolean(),
        domain: z.string().nullable(),
        ports: z
          .object({ secure: port, submission: port })
          .nullable()
          .meta({ description: 'Implicit TLS, and STARTTLS' }),
      }),
      sponsor: enabled,
    }),
    aws: z.object({ sesRegion: z.string().nullable(), mailFromSubdomain: z.string() }),
  })
  .meta({ id: 'Config' })

export const showConfig = ({ core }: RouteDeps) =>
  openOperation({
    tag: 'Service',
    summary: 'Show the features of this server',
    responses: { 200: { description: 'Its addresses and features', schema: config } },
    refusals: [400],
    handle: () => json(200, describeInstance(core.config)),
  })
