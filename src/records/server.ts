/** The server itself in the API: its features, its health and its checks. */
import { z } from 'zod'
import { DELIVERY_MODES } from './words.ts'

const enabled = z.object({ enabled: z.boolean() })
const port = z.int().nullable().meta({ description: 'Null: there is no such listener' })

export const publicConfig = z
  .object({
    environment: z
      .enum(DELIVERY_MODES)
      .optional()
      .meta({ description: 'Without a session it is shown once the server is set up' }),
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
    setup: z.object({
      needed: z
        .boolean()
        .meta({ description: 'Whether no user may log in, so that `POST /setup` makes the first' }),
    }),
    version: z.string().optional().meta({ description: 'To sessions only, as the two below' }),
    hostname: z.string().optional().meta({ description: 'The name of the server in SMTP' }),
    limits: z
      .object({
        importBytes: z.int().meta({ description: 'Of a CSV file' }),
        bulkIds: z.int().meta({ description: 'Ids that one bulk request may name' }),
        testAddresses: z.int().meta({ description: 'Addresses of one test' }),
        uploadBytes: z.int().meta({ description: 'Of an image' }),
        csvColumns: z.int(),
      })
      .optional(),
  })
  .meta({ id: 'Config' })

export type PublicConfig = z.output<typeof publicConfig>

export const serverHealth = z
  .object({
    status: z.enum(['ok', 'degraded', 'unwritable']),
    time: z.iso.datetime(),
    environment: z.enum(DELIVERY_MODES).optional(),
    uptime: z.number().meta({ description: 'Seconds' }).optional(),
    memoryUsage: z
      .record(z.string(), z.number())
      .meta({
        description:
          'Bytes. `anonymous`, on Linux: the part of `rss` that the system cannot read from a file again; the rest is mostly the program itself.',
      })
      .optional(),
    walBytes: z.number().meta({ description: "Size of the database's write-ahead log" }).optional(),
    reasons: z
      .array(z.object({ cause: z.string(), reason: z.string() }))
      .meta({ description: 'Why the status is `degraded`' })
      .optional(),
  })
  .meta({ id: 'Health' })

export const serverChecks = z
  .object({
    status: z.enum(['ok', 'warning', 'failed']).meta({ description: 'The worst of all checks' }),
    startedAt: z.iso.datetime(),
    finishedAt: z.iso.datetime(),
    checks: z.array(
      z.object({
        id: z.string(),
        status: z.enum(['ok', 'warning', 'failed', 'skipped']),
        evidence: z.string().meta({ description: 'What was seen, or why the check was skipped' }),
        fix: z.string().nullable().meta({ description: 'What to paste or to do' }),
      }),
    ),
  })
  .meta({ id: 'Checks' })

export const checksQuery = z.strictObject({
  fresh: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: '`true`: run the checks now, unless they ran within the last minute' }),
})

export const publicConfigExample: PublicConfig = {
  environment: 'direct',
  urls: {
    api: 'http://localhost:8080',
    dashboard: 'http://localhost:8080/app',
    landing: 'http://localhost:8080',
    wiki: 'http://localhost:8080/docs',
  },
  features: {
    billing: { enabled: false },
    storage: { s3Enabled: true },
    authProviders: { github: false, google: false, oidc: null },
    signup: { signupsDisabled: false },
    email: { trackingToggleEnabled: true },
    smtp: { enabled: false, domain: null, ports: null },
    sponsor: { enabled: false },
  },
  aws: { sesRegion: null, mailFromSubdomain: 'bounce' },
  setup: { needed: false },
}
