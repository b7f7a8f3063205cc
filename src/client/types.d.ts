/**
 * The operations and records of the API, for its clients. Types only: the file imports nothing.
 * Made by `npm run client` from the route table: change that.
 */

/**
 * Each operation by its method and path. `params`: those of the path. `answer`: the JSON of a
 * success; null for an answer without JSON, such as a 204 or a file.
 */
export interface Operations {
  /** Send an email to one or more recipients */
  'POST /v1/send': {
    params: Record<string, never>
    query: {
      /**
       * In place of the setting of the project: `refuse` answers 422 for a fault in subject, body or
       * text, `send` sends the email with its placeholders filled in, and warns
       */
      onTemplateFault?: 'send' | 'refuse'
    }
    body: {
      to:
        | string
        | {
            name?: string
            email: string
          }
        | Array<
            | string
            | {
                name?: string
                email: string
              }
          >
      subject?: string
      /** HTML */
      body?: string
      /**
       * The text part, which may also be a template; by default it is made from the HTML. Without `body`
       * and `template`, the message is this text alone
       */
      text?: string
      /** What `body` is: `html` (the default), or `markdown` with at most 256 KB, which becomes HTML */
      type?: 'html' | 'markdown'
      template?: string
      from?:
        | string
        | {
            name?: string
            email: string
          }
      /** Display name of the sender; use `from: {name, email}` instead */
      name?: string
      subscribed?: boolean
      /** An object of variables; stored with the contact unless given as {value, persistent: false} */
      data?: unknown
      /**
       * Header fields to add. Not: from, sender, to, cc, bcc, return-path, received, dkim-signature,
       * authentication-results, mime-version, date, arc-*, resent-*, content-*, x-pillarbox-*
       */
      headers?: Record<string, string>
      reply?: string
      attachments?: Array<{
        filename: string
        /** base64, or a `data:` URI, whose media type counts where `contentType` is missing */
        content: string
        /** By default the type of the `data:` URI, or the one that the file name tells */
        contentType?: string
        /** Required for inline attachments; the body refers to it as cid:<contentId> */
        contentId?: string
        /**
         * `alternative`: another form of the text, the default of a calendar (`text/calendar` with its
         * `method`). A file that the body refers to by `cid:` is inline in any case
         */
        disposition?: 'attachment' | 'inline' | 'alternative'
      }>
      tracking?: boolean
    }
    answer: {
      success: true
      data: {
        emails: Array<AcceptedEmail>
        timestamp: string
        /** Unknown fields of the request, and what a message goes without; absent if there is nothing */
        warnings?: Array<string>
      }
      /** The same as in `data`, for older clients */
      emails: Array<AcceptedEmail>
      /** The same as in `data`, for older clients */
      timestamp: string
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Record an event of a contact; creates the contact if necessary */
  'POST /v1/track': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      event: string
      email: string
      /**
       * A new contact is subscribed unless this is false; an existing contact keeps its state if this is
       * absent
       */
      subscribed?: boolean
      /**
       * An object; stored with the event, and with the contact unless given as {value, persistent: false}
       */
      data?: unknown
      /** If true, `subscribed` applies only when this call creates the contact */
      preserveExistingSubscription?: boolean
    }
    answer: {
      success: true
      data: {
        /**
         * The id of the contact; for the public key, unless the project lets it update contacts, a UUIDv8
         * that stands for the address
         */
        contact: string
        /** The id of the event */
        event: string
        timestamp: string
        /** Unknown fields of the request, and what a message goes without; absent if there is nothing */
        warnings?: Array<string>
      }
      /** The same as in `data`, for older clients */
      contact: string
      /** The same as in `data`, for older clients */
      event: string
      /** The same as in `data`, for older clients */
      timestamp: string
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Verify an email address */
  'POST /v1/verify': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      email: string
    }
    answer: {
      success: true
      data: Verification
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** List templates */
  'GET /templates': {
    params: Record<string, never>
    query: {
      limit?: number
      /** `cursor` of the previous page */
      cursor?: string
      page?: number
      pageSize?: number
      type?: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'
      /** Part of the name, description or subject */
      search?: string
      sort?: 'name' | 'createdAt' | 'updatedAt'
      dir?: 'asc' | 'desc'
    }
    body: null
    answer: TemplatePage
  }
  /** Create a template */
  'POST /templates': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      name: string
      description?: string | null
      subject: string
      /** HTML */
      body: string
      /** A name in it is the `fromName`, unless that is given */
      from:
        | string
        | {
            name?: string
            email: string
          }
      fromName?: string | null
      replyTo?: string | null
      type?: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'
    }
    answer: Template & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Delete all of the given templates or none */
  'POST /templates/bulk-update': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      ids: Array<string>
      delete?: boolean
    }
    answer:
      | {
          deleted: number
        }
      | {
          updated: 0
        }
  }
  /** Show a template */
  'GET /templates/{id}': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: Template
  }
  /** Change a template */
  'PATCH /templates/{id}': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: {
      name?: string
      description?: string | null
      subject?: string
      /** HTML */
      body?: string
      /** A name in it is the `fromName`, unless that is given */
      from?:
        | string
        | {
            name?: string
            email: string
          }
      fromName?: string | null
      replyTo?: string | null
      type?: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'
    }
    answer: Template & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Delete a template that nothing uses */
  'DELETE /templates/{id}': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: null
  }
  /** Copy a template */
  'POST /templates/{id}/duplicate': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: Template & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Show what uses a template */
  'GET /templates/{id}/usage': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: {
      workflowSteps: number
      emailsSent: number
      campaigns: Array<{
        id: string
        name: string
      }>
      workflows: Array<{
        id: string
        name: string
      }>
      /** The steps of workflows that send the template */
      steps: Array<{
        id: string
        name: string
      }>
    }
  }
  /** List the project's domains, newest first */
  'GET /domains/project/{projectId}': {
    params: {
      projectId: string
    }
    query: Record<string, never>
    body: null
    answer: Array<Domain>
  }
  /** Add a domain */
  'POST /domains': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      /** The id of the request's own project; may be absent */
      projectId?: string
      /** A host name such as example.com */
      domain: string
    }
    answer: Domain & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Check the DNS records of a domain now */
  'GET /domains/{id}/verify': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: DomainVerification
  }
  /** Delete a domain that nothing uses */
  'DELETE /domains/{id}': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: {
      success: true
    }
  }
  /** List all segments, newest first */
  'GET /segments': {
    params: Record<string, never>
    query: Record<string, never>
    body: null
    answer: Array<Segment>
  }
  /** Create a segment */
  'POST /segments': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      name: string
      description?: string | null
      type?: 'DYNAMIC' | 'STATIC'
      condition?: Condition
      trackMembership?: boolean
    }
    answer: Segment & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Show a segment */
  'GET /segments/{id}': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: Segment
  }
  /** Change a segment */
  'PATCH /segments/{id}': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: {
      name?: string
      description?: string | null
      type?: 'DYNAMIC' | 'STATIC'
      condition?: Condition & (Record<string, unknown> | null)
      trackMembership?: boolean
    }
    answer: Segment & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Delete a segment that nothing uses */
  'DELETE /segments/{id}': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: null
  }
  /** List the contacts of a segment */
  'GET /segments/{id}/contacts': {
    params: {
      id: string
    }
    query: {
      page?: number
      pageSize?: number
    }
    body: null
    answer: SegmentMemberPage
  }
  /** Add members to a STATIC segment */
  'POST /segments/{id}/members': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: {
      emails: Array<string>
      createMissing?: boolean
      /** State of contacts that are created */
      subscribed?: boolean
    }
    answer: {
      /** The number of contacts with these addresses, including earlier members */
      added: number
      created: number
      /** The addresses as given */
      notFound: Array<string>
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Remove members from a STATIC segment */
  'DELETE /segments/{id}/members': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: {
      emails: Array<string>
    }
    answer: {
      removed: number
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Check the condition of a segment */
  'POST /segments/{id}/check': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: {
      findings: Array<{
        code: string
        severity: 'error' | 'warning' | 'info'
        message: string
        fix: string
      }>
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Compute a tracked segment */
  'POST /segments/{id}/compute': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: {
      added: number
      removed: number
      total: number
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Count a segment again */
  'POST /segments/{id}/refresh': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: {
      memberCount: number
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** List campaigns */
  'GET /campaigns': {
    params: Record<string, never>
    query: {
      /** A page by number, in place of a cursor; 1 by default */
      page?: number
      pageSize?: number
      /** The same as pageSize, for pages by cursor */
      limit?: number
      /** `cursor` of the previous page */
      cursor?: string
      status?: 'DRAFT' | 'SCHEDULED' | 'SENDING' | 'SENT' | 'CANCELLED'
      /** Part of the name, the subject or the sender's address */
      search?: string
      /** Lists the archived campaigns in place of the others */
      archived?: 'true' | 'false'
      sort?: 'name' | 'createdAt' | 'updatedAt'
      dir?: 'asc' | 'desc'
    }
    body: null
    answer: CampaignPage
  }
  /** Create a campaign */
  'POST /campaigns': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      name: string
      description?: string | null
      subject?: string
      /** HTML */
      body?: string
      /** A name in it is the `fromName`, unless that is given */
      from?:
        | string
        | {
            name?: string
            email: string
          }
      fromName?: string | null
      replyTo?: string | null
      /** TRANSACTIONAL goes to unsubscribed contacts, too; the others leave them out */
      type?: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'
      /**
       * SEGMENT needs `segmentId`, FILTERED `audienceCondition`; ALL is every contact, and ignores both
       */
      audienceType: 'ALL' | 'SEGMENT' | 'FILTERED'
      segmentId?: string | null
      audienceCondition?: Condition & (Record<string, unknown> | null)
      audienceFilter?: Condition & (Record<string, unknown> | null)
      /** At creation, subject, body, from, fromName, replyTo and type are copied unless given */
      templateId?: string | null
      maxPerHour?: number | null
      /** The new time of a campaign that is SCHEDULED */
      scheduledFor?: string | null
      /** The same as scheduledFor */
      scheduledAt?: string | null
    }
    answer: {
      success: true
      data: Campaign
      message?: string
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Delete all of the given drafts or none */
  'POST /campaigns/bulk-update': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      ids: Array<string>
      delete?: boolean
    }
    answer:
      | {
          deleted: number
        }
      | {
          updated: 0
        }
  }
  /** Count the audience of a draft that is not stored */
  'POST /campaigns/audience': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      name?: string
      description?: string | null
      subject?: string
      /** HTML */
      body?: string
      /** A name in it is the `fromName`, unless that is given */
      from?:
        | string
        | {
            name?: string
            email: string
          }
      fromName?: string | null
      replyTo?: string | null
      /** TRANSACTIONAL goes to unsubscribed contacts, too; the others leave them out */
      type?: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'
      /**
       * SEGMENT needs `segmentId`, FILTERED `audienceCondition`; ALL is every contact, and ignores both
       */
      audienceType: 'ALL' | 'SEGMENT' | 'FILTERED'
      segmentId?: string | null
      audienceCondition?: Condition & (Record<string, unknown> | null)
      audienceFilter?: Condition & (Record<string, unknown> | null)
      /** At creation, subject, body, from, fromName, replyTo and type are copied unless given */
      templateId?: string | null
      maxPerHour?: number | null
      /** The new time of a campaign that is SCHEDULED */
      scheduledFor?: string | null
      /** The same as scheduledFor */
      scheduledAt?: string | null
    }
    answer: {
      /** The sum of the three numbers that follow */
      matching: number
      /** Those left out because they are unsubscribed; 0 for a TRANSACTIONAL campaign */
      unsubscribed: number
      suppressed: number
      willReceive: number
      /** Those of `willReceive` who are unsubscribed: a TRANSACTIONAL campaign goes to them, too */
      unsubscribedRecipients: number
      /** At most ten contacts that would get the campaign */
      sample: Array<{
        id: string
        email: string
      }>
      asOf: string
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Show a campaign */
  'GET /campaigns/{id}': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: {
      success: true
      data: ShownCampaign
    }
  }
  /** Change a campaign */
  'PUT /campaigns/{id}': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: {
      name?: string
      description?: string | null
      subject?: string
      /** HTML */
      body?: string
      /** A name in it is the `fromName`, unless that is given */
      from?:
        | string
        | {
            name?: string
            email: string
          }
      fromName?: string | null
      replyTo?: string | null
      /** TRANSACTIONAL goes to unsubscribed contacts, too; the others leave them out */
      type?: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'
      /**
       * SEGMENT needs `segmentId`, FILTERED `audienceCondition`; ALL is every contact, and ignores both
       */
      audienceType?: 'ALL' | 'SEGMENT' | 'FILTERED'
      segmentId?: string | null
      audienceCondition?: Condition & (Record<string, unknown> | null)
      audienceFilter?: Condition & (Record<string, unknown> | null)
      /** At creation, subject, body, from, fromName, replyTo and type are copied unless given */
      templateId?: string | null
      maxPerHour?: number | null
      /** The new time of a campaign that is SCHEDULED */
      scheduledFor?: string | null
      /** The same as scheduledFor */
      scheduledAt?: string | null
    }
    answer: {
      success: true
      data: Campaign
      message?: string
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Delete a draft */
  'DELETE /campaigns/{id}': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: {
      success: true
      message: string
    }
  }
  /** Count the audience of a campaign */
  'GET /campaigns/{id}/audience': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: {
      /** The sum of the three numbers that follow */
      matching: number
      /** Those left out because they are unsubscribed; 0 for a TRANSACTIONAL campaign */
      unsubscribed: number
      suppressed: number
      willReceive: number
      /** Those of `willReceive` who are unsubscribed: a TRANSACTIONAL campaign goes to them, too */
      unsubscribedRecipients: number
      /** At most ten contacts that would get the campaign */
      sample: Array<{
        id: string
        email: string
      }>
      asOf: string
    }
  }
  /** Show the figures of a campaign */
  'GET /campaigns/{id}/stats': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: {
      success: true
      data: CampaignStats
    }
  }
  /** List the recipients of a campaign */
  'GET /campaigns/{id}/recipients': {
    params: {
      id: string
    }
    query: {
      /** All recipients if absent */
      outcome?:
        | 'delivered'
        | 'opened'
        | 'clicked'
        | 'bounced'
        | 'complained'
        | 'unsubscribed'
        | 'failed'
        | 'skipped'
        | 'pending'
      /** The same as outcome */
      type?:
        | 'delivered'
        | 'opened'
        | 'clicked'
        | 'bounced'
        | 'complained'
        | 'unsubscribed'
        | 'failed'
        | 'skipped'
        | 'pending'
      limit?: number
      /** `cursor` of the previous page */
      cursor?: string
    }
    body: null
    answer: CampaignRecipientPage
  }
  /** Export the recipients of a campaign as CSV */
  'GET /campaigns/{id}/recipients/export': {
    params: {
      id: string
    }
    query: {
      /** All recipients if absent */
      outcome?:
        | 'delivered'
        | 'opened'
        | 'clicked'
        | 'bounced'
        | 'complained'
        | 'unsubscribed'
        | 'failed'
        | 'skipped'
        | 'pending'
      /** The same as outcome */
      type?:
        | 'delivered'
        | 'opened'
        | 'clicked'
        | 'bounced'
        | 'complained'
        | 'unsubscribed'
        | 'failed'
        | 'skipped'
        | 'pending'
      /** Adds a column for each field of the contacts, `data.<field>` */
      data?: 'true' | 'false'
    }
    body: null
    answer: null
  }
  /** List the links of a campaign by their clicks */
  'GET /campaigns/{id}/links': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: Array<{
      url: string
      clicks: number
      uniqueClickers: number
    }>
  }
  /** Copy a campaign */
  'POST /campaigns/{id}/duplicate': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: {
      success: true
      data: Campaign
      message?: string
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Archive a campaign */
  'POST /campaigns/{id}/archive': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: {
      success: true
      data: Campaign
      message?: string
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Take a campaign out of the archive */
  'POST /campaigns/{id}/unarchive': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: {
      success: true
      data: Campaign
      message?: string
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Check a campaign before it is sent */
  'POST /campaigns/{id}/check': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: {
      findings: Array<{
        code: string
        severity: 'error' | 'warning' | 'info'
        message: string
        fix: string
      }>
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Send a test of a campaign */
  'POST /campaigns/{id}/test': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: {
      email?: string
      /** In place of `email`; an address that occurs twice gets one email */
      emails?: Array<string>
      /**
       * The contact to render as; by default the address' own, and for an address without data the first
       * contact of the audience
       */
      contactId?: string
    }
    answer: {
      success: true
      data: {
        emails: Array<{
          contact: {
            id: string
            email: string
          }
          /** The id of the email */
          email: string
        }>
        timestamp: string
      }
      message: string
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Send or schedule a campaign */
  'POST /campaigns/{id}/send': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: {
      /** ISO 8601 or RFC 1123, at most 366 days ahead; UTC without an offset. Absent or null: now */
      scheduledFor?: string | null
      /** The same as scheduledFor */
      scheduledAt?: string | null
    }
    answer: {
      success: true
      data: Campaign
      message?: string
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Pause the sending of a campaign */
  'POST /campaigns/{id}/pause': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: {
      success: true
      data: Campaign
      message?: string
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Resume a paused campaign */
  'POST /campaigns/{id}/resume': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: {
      success: true
      data: Campaign
      message?: string
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Cancel a campaign that is scheduled or being sent */
  'POST /campaigns/{id}/cancel': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: {
      success: true
      data: Campaign
      message?: string
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Try the failed emails of a campaign again */
  'POST /campaigns/{id}/retry-failed': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: Record<string, never>
    answer: {
      success: true
      retried: number
      data: {
        retried: number
      }
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** List workflows */
  'GET /workflows': {
    params: Record<string, never>
    query: {
      /** A page by number, in place of a cursor; 1 by default */
      page?: number
      pageSize?: number
      /** The same as pageSize, for pages by cursor */
      limit?: number
      /** `cursor` of the previous page */
      cursor?: string
      /** Part of the name or the description */
      search?: string
      status?: 'active' | 'disabled'
      sort?: 'name' | 'createdAt' | 'updatedAt' | 'steps'
      dir?: 'asc' | 'desc'
    }
    body: null
    answer: WorkflowPage
  }
  /** Create a workflow */
  'POST /workflows': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      name: string
      /** Required, here or as `triggerConfig.eventName` */
      eventName?: string
      description?: string | null
      /** Ignored */
      enabled?: boolean
      allowReentry?: boolean
      /** Ignored */
      triggerType?: 'EVENT' | 'MANUAL' | 'SCHEDULE'
      /** For `email.received` also `includeAutomatic` (false) and `answersPerDay` (1; null = all) */
      triggerConfig?:
        | ({
            eventName?: string
          } & Record<string, unknown>)
        | null
    }
    answer: WorkflowDetail & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** List the fields that a CONDITION can ask for */
  'GET /workflows/fields': {
    params: Record<string, never>
    query: {
      /** Adds the fields of the last hundred events of this name with data */
      eventName?: string
    }
    body: null
    answer: {
      fields: Array<string>
      typedFields: Array<{
        field: string
        type: 'string' | 'number' | 'boolean' | 'date'
        category: 'Contact Fields' | 'Custom Data' | 'Event Data'
      }>
      count: number
    }
  }
  /** Delete all of the given workflows or none */
  'POST /workflows/bulk-update': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      ids: Array<string>
      delete?: boolean
    }
    answer:
      | {
          deleted: number
        }
      | {
          updated: 0
        }
  }
  /** Show a workflow with its steps and transitions */
  'GET /workflows/{id}': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: WorkflowDetail
  }
  /** Change a workflow */
  'PATCH /workflows/{id}': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: {
      name?: string
      description?: string | null
      triggerType?: 'EVENT' | 'MANUAL' | 'SCHEDULE'
      /**
       * EVENT `{eventName}`, and for `email.received` `{eventName, includeAutomatic?, answersPerDay?}`;
       * MANUAL null; SCHEDULE `{schedule, timezone?, segmentId}`: a cron expression of five fields, the
       * name of a time zone (UTC if absent)
       */
      triggerConfig?: unknown
      enabled?: boolean
      allowReentry?: boolean
    }
    answer: WorkflowDetail & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Delete a workflow with its executions */
  'DELETE /workflows/{id}': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: null
  }
  /** Copy a workflow */
  'POST /workflows/{id}/duplicate': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: WorkflowDetail & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Check a workflow */
  'POST /workflows/{id}/validate': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: {
      findings: Array<{
        code: string
        severity: 'error' | 'warning' | 'info'
        message: string
        fix: string
        stepId?: string
      }>
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Add a step */
  'POST /workflows/{id}/steps': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: {
      type:
        | 'TRIGGER'
        | 'SEND_EMAIL'
        | 'DELAY'
        | 'WAIT_FOR_EVENT'
        | 'CONDITION'
        | 'EXIT'
        | 'WEBHOOK'
        | 'UPDATE_CONTACT'
      name: string
      /** If absent, below the step before */
      position?: {
        x: number
        y: number
      }
      /**
       * TRIGGER `{}`; SEND_EMAIL `{recipient?: {type: CONTACT | CUSTOM, customEmail?}}`; DELAY `{amount,
       * unit: minutes | hours | days}`; WAIT_FOR_EVENT `{eventName, timeout?, stepId?,
       * includeAutomatic?}` in seconds; CONDITION `{field, operator, value?, stepId?, campaignId?}` or
       * `{mode: multi, field, branches: [{id, name, operator, value?}]}`; WEBHOOK `{url, method?,
       * headers?, body?, onFailure?}`, values in `url` are percent-encoded by their place; UPDATE_CONTACT
       * `{updates?, subscriptionAction?}`, texts in the values of `updates` are templates; EXIT
       * `{reason?}`
       */
      config?: Record<string, unknown>
      /** Of a SEND_EMAIL. If absent, the one in `config`, if it has one */
      templateId?: string | null
      /** Whether the newest step that nothing follows leads to the new one */
      autoConnect?: boolean
    }
    answer: WorkflowStep & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Change a step */
  'PATCH /workflows/{id}/steps/{stepId}': {
    params: {
      id: string
      stepId: string
    }
    query: Record<string, never>
    body: {
      name?: string
      position?: {
        x: number
        y: number
      }
      /**
       * TRIGGER `{}`; SEND_EMAIL `{recipient?: {type: CONTACT | CUSTOM, customEmail?}}`; DELAY `{amount,
       * unit: minutes | hours | days}`; WAIT_FOR_EVENT `{eventName, timeout?, stepId?,
       * includeAutomatic?}` in seconds; CONDITION `{field, operator, value?, stepId?, campaignId?}` or
       * `{mode: multi, field, branches: [{id, name, operator, value?}]}`; WEBHOOK `{url, method?,
       * headers?, body?, onFailure?}`, values in `url` are percent-encoded by their place; UPDATE_CONTACT
       * `{updates?, subscriptionAction?}`, texts in the values of `updates` are templates; EXIT
       * `{reason?}`
       */
      config?: Record<string, unknown>
      /** Of a SEND_EMAIL. If absent, the one in `config`, if it has one */
      templateId?: string | null
    }
    answer: WorkflowStep & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Remove a step and all that follows it */
  'DELETE /workflows/{id}/steps/{stepId}': {
    params: {
      id: string
      stepId: string
    }
    query: {
      /** Removes the step alone: the steps before it lead to the one after it */
      splice?: 'true' | 'false'
    }
    body: null
    answer: null
  }
  /** Add a transition between two steps */
  'POST /workflows/{id}/transitions': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: {
      fromStepId: string
      toStepId: string
      /** The branch of a CONDITION: `yes`, `no`, the id of a branch, or `default` */
      condition?: {
        branch?: string
      } | null
      /** The same as `condition.branch` */
      branch?: string | null
      /** Of a WAIT_FOR_EVENT */
      waitOutcome?: 'EVENT' | 'TIMEOUT' | null
      /** Transitions with lower numbers are tried first */
      priority?: number
    }
    answer: WorkflowTransition & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Insert a step into a transition */
  'POST /workflows/{id}/transitions/{transitionId}/insert-step': {
    params: {
      id: string
      transitionId: string
    }
    query: Record<string, never>
    body: {
      type:
        | 'TRIGGER'
        | 'SEND_EMAIL'
        | 'DELAY'
        | 'WAIT_FOR_EVENT'
        | 'CONDITION'
        | 'EXIT'
        | 'WEBHOOK'
        | 'UPDATE_CONTACT'
      name: string
      position?: {
        x: number
        y: number
      }
      /**
       * TRIGGER `{}`; SEND_EMAIL `{recipient?: {type: CONTACT | CUSTOM, customEmail?}}`; DELAY `{amount,
       * unit: minutes | hours | days}`; WAIT_FOR_EVENT `{eventName, timeout?, stepId?,
       * includeAutomatic?}` in seconds; CONDITION `{field, operator, value?, stepId?, campaignId?}` or
       * `{mode: multi, field, branches: [{id, name, operator, value?}]}`; WEBHOOK `{url, method?,
       * headers?, body?, onFailure?}`, values in `url` are percent-encoded by their place; UPDATE_CONTACT
       * `{updates?, subscriptionAction?}`, texts in the values of `updates` are templates; EXIT
       * `{reason?}`
       */
      config?: Record<string, unknown>
      /** Of a SEND_EMAIL. If absent, the one in `config`, if it has one */
      templateId?: string | null
    }
    answer: WorkflowStep & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Remove a transition */
  'DELETE /workflows/{id}/transitions/{transitionId}': {
    params: {
      id: string
      transitionId: string
    }
    query: Record<string, never>
    body: null
    answer: null
  }
  /** Replace all steps and transitions */
  'PUT /workflows/{id}/graph': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: {
      steps: Array<{
        /** A UUID, or a name of your choice such as `welcome`, which stands for one */
        id: string
        type:
          | 'TRIGGER'
          | 'SEND_EMAIL'
          | 'DELAY'
          | 'WAIT_FOR_EVENT'
          | 'CONDITION'
          | 'EXIT'
          | 'WEBHOOK'
          | 'UPDATE_CONTACT'
        name: string
        position?: {
          x: number
          y: number
        }
        /**
         * TRIGGER `{}`; SEND_EMAIL `{recipient?: {type: CONTACT | CUSTOM, customEmail?}}`; DELAY `{amount,
         * unit: minutes | hours | days}`; WAIT_FOR_EVENT `{eventName, timeout?, stepId?,
         * includeAutomatic?}` in seconds; CONDITION `{field, operator, value?, stepId?, campaignId?}` or
         * `{mode: multi, field, branches: [{id, name, operator, value?}]}`; WEBHOOK `{url, method?,
         * headers?, body?, onFailure?}`, values in `url` are percent-encoded by their place; UPDATE_CONTACT
         * `{updates?, subscriptionAction?}`, texts in the values of `updates` are templates; EXIT
         * `{reason?}`
         */
        config?: Record<string, unknown>
        /** Of a SEND_EMAIL. If absent, the one in `config`, if it has one */
        templateId?: string | null
      }>
      transitions: Array<{
        /** A UUID, or a name of your choice such as `welcome`, which stands for one */
        fromStepId: string
        /** A UUID, or a name of your choice such as `welcome`, which stands for one */
        toStepId: string
        /** The branch of a CONDITION: `yes`, `no`, the id of a branch, or `default` */
        condition?: {
          branch?: string
        } | null
        /** The same as `condition.branch` */
        branch?: string | null
        /** Of a WAIT_FOR_EVENT */
        waitOutcome?: 'EVENT' | 'TIMEOUT' | null
        /** Transitions with lower numbers are tried first */
        priority?: number
        id?: string
      }>
    }
    answer: ReplacedWorkflow & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Show the figures of a workflow */
  'GET /workflows/{id}/stats': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: WorkflowStats
  }
  /** Start an execution for a contact */
  'POST /workflows/{id}/executions': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: {
      contactId: string
      /** Variables of the execution, also as `event.*`; at most 64 KB of JSON */
      context?: Record<string, unknown> | null
    }
    answer: WorkflowExecution & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** List the executions of a workflow, newest first */
  'GET /workflows/{id}/executions': {
    params: {
      id: string
    }
    query: {
      page?: number
      pageSize?: number
      status?: 'RUNNING' | 'WAITING' | 'COMPLETED' | 'EXITED' | 'FAILED' | 'CANCELLED'
    }
    body: null
    answer: WorkflowExecutionPage
  }
  /** Cancel all active executions of a workflow */
  'POST /workflows/{id}/executions/cancel-all': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: Record<string, never>
    answer: {
      cancelled: number
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Start executions for many contacts */
  'POST /workflows/{id}/executions/bulk': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: {
      /** Its members */
      segmentId?: string
      filter?: Condition & (Record<string, unknown> | null)
      /** Variables of the execution, also as `event.*`; at most 64 KB of JSON */
      context?: Record<string, unknown> | null
    }
    answer: QueuedJob & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Show the progress of a bulk start */
  'GET /workflows/{id}/executions/bulk/{jobId}': {
    params: {
      id: string
      jobId: string
    }
    query: Record<string, never>
    body: null
    answer: {
      id: string
      state: 'waiting' | 'active' | 'completed' | 'failed' | 'cancelled' | 'delayed'
      progress: number
      /**
       * When completed: totalRequested, startedCount, heldBackCount (by re-entry), tooManyStartsCount,
       * failureCount (contacts deleted meanwhile)
       */
      result?: unknown
      /** The parameters of the job */
      data?: unknown
      failedReason: string | null
    }
  }
  /** Show an execution, step by step */
  'GET /workflows/{id}/executions/{eid}': {
    params: {
      id: string
      eid: string
    }
    query: Record<string, never>
    body: null
    answer: WorkflowExecutionDetail
  }
  /** Cancel an execution */
  'DELETE /workflows/{id}/executions/{eid}': {
    params: {
      id: string
      eid: string
    }
    query: Record<string, never>
    body: null
    answer: WorkflowExecution
  }
  /** Retry a failed execution from its failed step */
  'POST /workflows/{id}/executions/{eid}/retry': {
    params: {
      id: string
      eid: string
    }
    query: Record<string, never>
    body: null
    answer: WorkflowExecution & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Render a text, a template or a campaign as a send would */
  'POST /render': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      /** Required with `body`; otherwise in place of the subject of the template or campaign */
      subject?: string
      /** HTML */
      body?: string
      templateId?: string
      campaignId?: string
      /**
       * By default the type of the template or campaign, and MARKETING for a `body`; only MARKETING has a
       * footer
       */
      type?: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'
      /** The contact to render for; without it, nobody whose data is empty */
      contactId?: string
      /** An object of variables, as in a send; nothing is stored */
      data?: unknown
    }
    answer: {
      subject: string
      html: string
      /** The text part */
      text: string
      /** Of the HTML; Gmail clips more than 102 KB */
      sizeBytes: number
      /** Faults of the templates, which never stop an email, and unknown fields */
      warnings: Array<string>
      /** The names of the request that were ignored; empty without any */
      unknownFields: Array<FieldWarning>
    }
  }
  /** List emails, newest first, without their bodies */
  'GET /emails': {
    params: Record<string, never>
    query: {
      limit?: number
      /** `cursor` of the previous page */
      cursor?: string
      /** false: the emails of further pages are not counted, and `total` is 0 if there are any */
      total?: boolean
      /**
       * One or more of PENDING, SENDING, SENT, DELIVERED, RECEIVED, OPENED, CLICKED, BOUNCED, COMPLAINED,
       * FAILED, SUPPRESSED, with commas
       */
      status?: string
      /**
       * One or more of queued, deferred, held, paused, sending, delivered, relayed, bounced, failed,
       * suppressed, received, with commas; waiting stands for queued, deferred, held, paused, sending
       */
      state?: string
      source?: 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW' | 'INBOUND'
      /** The beginning of the recipient's address, an id, or a Message-ID */
      search?: string
      contactId?: string
      campaignId?: string
      templateId?: string
      /** What sent it: a campaign, template, workflow, or execution of one */
      sourceId?: string
      /** The recipient's domain */
      domain?: string
      /** A mailbox provider, as `receiver` of the emails names it */
      receiver?:
        | 'Gmail'
        | 'Outlook'
        | 'Yahoo'
        | 'iCloud'
        | 'Yahoo Japan'
        | 'Proton'
        | 'Fastmail'
        | 'Zoho'
        | 'GMX'
        | 'WEB.DE'
        | 'mail.com'
        | 'T-Online'
        | 'freenet'
        | 'Posteo'
        | 'mailbox.org'
        | 'Orange'
        | 'La Poste'
        | 'Free'
        | 'SFR'
        | 'Libero'
        | 'Seznam'
        | 'Yandex'
        | 'Mail.ru'
        | 'QQ'
        | 'NetEase'
        | 'Naver'
        | 'Comcast'
        | 'AT&T'
        | 'Spectrum'
        | 'BT'
        | 'UOL'
        | 'Terra'
        | 'Rediffmail'
        | 'Bluewin'
        | 'Telenet'
        | 'Ziggo'
        | 'Telstra'
        | 'Google Workspace'
        | 'Microsoft 365'
        | 'IONOS'
        | 'OVH'
        | 'Gandi'
        | 'Infomaniak'
        | 'GoDaddy'
        | 'Namecheap'
        | 'Rackspace'
        | 'Amazon WorkMail'
        | 'Cloudflare'
        | 'Mimecast'
        | 'Proofpoint'
        | 'Barracuda'
        | 'Cisco Secure Email'
        | 'Hornetsecurity'
        | 'Trellix'
        | 'Trend Micro'
        | 'Other'
      /** Tests only, or no tests */
      isTest?: boolean
      startDate?: string
      endDate?: string
    }
    body: null
    answer: EmailPage
  }
  /** Count emails by status */
  'GET /emails/counts': {
    params: Record<string, never>
    query: {
      /**
       * One or more of PENDING, SENDING, SENT, DELIVERED, RECEIVED, OPENED, CLICKED, BOUNCED, COMPLAINED,
       * FAILED, SUPPRESSED, with commas
       */
      status?: string
      /**
       * One or more of queued, deferred, held, paused, sending, delivered, relayed, bounced, failed,
       * suppressed, received, with commas; waiting stands for queued, deferred, held, paused, sending
       */
      state?: string
      source?: 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW' | 'INBOUND'
      /** The beginning of the recipient's address, an id, or a Message-ID */
      search?: string
      contactId?: string
      campaignId?: string
      templateId?: string
      /** What sent it: a campaign, template, workflow, or execution of one */
      sourceId?: string
      /** The recipient's domain */
      domain?: string
      /** A mailbox provider, as `receiver` of the emails names it */
      receiver?:
        | 'Gmail'
        | 'Outlook'
        | 'Yahoo'
        | 'iCloud'
        | 'Yahoo Japan'
        | 'Proton'
        | 'Fastmail'
        | 'Zoho'
        | 'GMX'
        | 'WEB.DE'
        | 'mail.com'
        | 'T-Online'
        | 'freenet'
        | 'Posteo'
        | 'mailbox.org'
        | 'Orange'
        | 'La Poste'
        | 'Free'
        | 'SFR'
        | 'Libero'
        | 'Seznam'
        | 'Yandex'
        | 'Mail.ru'
        | 'QQ'
        | 'NetEase'
        | 'Naver'
        | 'Comcast'
        | 'AT&T'
        | 'Spectrum'
        | 'BT'
        | 'UOL'
        | 'Terra'
        | 'Rediffmail'
        | 'Bluewin'
        | 'Telenet'
        | 'Ziggo'
        | 'Telstra'
        | 'Google Workspace'
        | 'Microsoft 365'
        | 'IONOS'
        | 'OVH'
        | 'Gandi'
        | 'Infomaniak'
        | 'GoDaddy'
        | 'Namecheap'
        | 'Rackspace'
        | 'Amazon WorkMail'
        | 'Cloudflare'
        | 'Mimecast'
        | 'Proofpoint'
        | 'Barracuda'
        | 'Cisco Secure Email'
        | 'Hornetsecurity'
        | 'Trellix'
        | 'Trend Micro'
        | 'Other'
      /** Tests only, or no tests */
      isTest?: boolean
      startDate?: string
      endDate?: string
    }
    body: null
    answer: EmailCounts
  }
  /** Send a test of a text or of a template */
  'POST /emails/test': {
    params: Record<string, never>
    query: {
      /**
       * In place of the setting of the project: `refuse` answers 422 for a fault in subject, body or
       * text, `send` sends the email with its placeholders filled in, and warns
       */
      onTemplateFault?: 'send' | 'refuse'
    }
    body: {
      /** At most 10; an address that occurs twice gets one email */
      to:
        | string
        | {
            name?: string
            email: string
          }
        | Array<
            | string
            | {
                name?: string
                email: string
              }
          >
      /**
       * By default the sender of the template; without a template, that of the sandbox. Required
       * elsewhere
       */
      from?:
        | string
        | {
            name?: string
            email: string
          }
      /** Required with `body`; otherwise in place of the subject of the template */
      subject?: string
      /** HTML */
      body?: string
      templateId?: string
      /** The contact to render as; by default each address' own */
      contactId?: string
      /** An object of variables, as in a send; no contact gets them */
      data?: unknown
    }
    answer: {
      success: true
      data: {
        emails: Array<AcceptedEmail>
        timestamp: string
        /** Unknown fields of the request, and what a message goes without; absent if there is nothing */
        warnings?: Array<string>
      }
      /** The same as in `data`, for older clients */
      emails: Array<AcceptedEmail>
      /** The same as in `data`, for older clients */
      timestamp: string
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Show an email with its attempts, its events, and where it stands */
  'GET /emails/{id}': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: Email
  }
  /** Show the octets of an email (RFC 5322) */
  'GET /emails/{id}/raw': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: null
  }
  /** Cancel an email that waits */
  'POST /emails/{id}/cancel': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: Email
  }
  /** Try an email again now */
  'POST /emails/{id}/retry': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: Email
  }
  /** List suppressed addresses, newest first */
  'GET /suppressions': {
    params: Record<string, never>
    query: {
      limit?: number
      /** `cursor` of the previous page */
      cursor?: string
      /** Part of the address */
      search?: string
      reason?: 'HARD_BOUNCE' | 'COMPLAINT' | 'MANUAL' | 'STRIKES'
    }
    body: null
    answer: SuppressionPage
  }
  /** Suppress addresses */
  'POST /suppressions': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      email?: string
      emails?: Array<string>
      reason?: 'HARD_BOUNCE' | 'COMPLAINT' | 'MANUAL' | 'STRIKES'
    }
    answer: {
      added: number
      existing: number
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Remove addresses from the list */
  'DELETE /suppressions': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      emails: Array<string>
    }
    answer: {
      removed: number
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Remove an address from the list */
  'DELETE /suppressions/{id}': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: null
  }
  /** Suppress the addresses of a CSV file */
  'POST /suppressions/import': {
    params: Record<string, never>
    query: Record<string, never>
    body: FormData
    answer: QueuedJob
  }
  /** Show the progress of an import */
  'GET /suppressions/import/{jobId}': {
    params: {
      jobId: string
    }
    query: Record<string, never>
    body: null
    answer: {
      id: string
      state: 'waiting' | 'active' | 'completed' | 'failed' | 'cancelled' | 'delayed'
      progress: number
      result: {
        /** Rows below the header; empty rows are not counted */
        totalRows: number
        successCount: number
        createdCount: number
        /** Contacts that existed, including those that did not change */
        updatedCount: number
        failureCount: number
        /** The first 1,000 */
        errors: Array<{
          /** Rows are counted from the header, which is row 1 */
          row: number
          /** The line in the file */
          line: number
          email: string
          error: string
        }>
        /** About the file as a whole, as text for people, with line numbers */
        warnings: Array<string>
        /**
         * How the columns of data are read; `mixed` in an export of this service where each cell has its
         * own type; `json`: objects whose keys became keys of the data
         */
        columns: Array<{
          field: string
          type: 'text' | 'number' | 'boolean' | 'mixed' | 'json'
          /** Why a column with numbers or booleans is read as text */
          reason: string | null
          /**
           * Of `json` only: the first 50 keys of its objects, which become keys of the data; each is shown up
           * to 60 characters
           */
          keys?: Array<string>
        }>
        /** What was not taken as it is */
        damage: {
          /** Rows that are no UTF-8 and were read as Windows-1252 */
          guessedRows: number
          /** Characters that could not be read and became U+FFFD */
          replacedCharacters: number
          /** Cells with a value in a column without a field */
          droppedCells: number
          /** Values that were too long and were shortened */
          cutFields: number
        }
        /**
         * At most 20 names that an import does not know: fields of the form, headers in `mapping` that the
         * file does not have, and columns that contacts cannot have
         */
        unknownFields: Array<FieldWarning>
        addedCount: number
        /** Addresses that were already on the list */
        existingCount: number
      } | null
      /** The upload, without the file */
      data: {
        filename: string
        sizeBytes: number
        mapping: Record<string, string | null>
        types: 'values' | 'strings'
        subscribed: boolean
        resubscribe: boolean
        /** The counts say what would happen; nothing changed */
        dryRun: boolean
      }
      failedReason: string | null
    }
  }
  /** Record an event */
  'POST /events/track': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      name?: string
      contactId?: string
      emailId?: string
      event?: string
      email?: string
      /**
       * A new contact is subscribed unless this is false; an existing contact keeps its state if this is
       * absent
       */
      subscribed?: boolean
      /**
       * An object; stored with the event, and with the contact unless given as {value, persistent: false}
       */
      data?: unknown
      /** If true, `subscribed` applies only when this call creates the contact */
      preserveExistingSubscription?: boolean
    }
    answer:
      | ({
          success: true
          data: {
            /**
             * The id of the contact; for the public key, unless the project lets it update contacts, a UUIDv8
             * that stands for the address
             */
            contact: string
            /** The id of the event */
            event: string
            timestamp: string
            /** Unknown fields of the request, and what a message goes without; absent if there is nothing */
            warnings?: Array<string>
          }
          /** The same as in `data`, for older clients */
          contact: string
          /** The same as in `data`, for older clients */
          event: string
          /** The same as in `data`, for older clients */
          timestamp: string
        } & {
          /**
           * Fields of the request that had no effect, or not all, each with the name or the change that was
           * probably meant; at most 20, absent without any
           */
          warnings?: Array<FieldWarning>
        })
      | (Event & {
          /**
           * Fields of the request that had no effect, or not all, each with the name or the change that was
           * probably meant; at most 20, absent without any
           */
          warnings?: Array<FieldWarning>
        })
  }
  /** Show what uses the events of a name */
  'GET /events/{eventName}/usage': {
    params: {
      eventName: string
    }
    query: Record<string, never>
    body: null
    answer: {
      usedInSegments: Array<{
        id: string
        name: string
      }>
      usedInWorkflows: Array<{
        id: string
        name: string
      }>
      totalCount: number
      /** The number of contacts with such an event */
      uniqueContacts: number
      canDelete: boolean
    }
  }
  /** Delete all events of a name */
  'DELETE /events/{eventName}': {
    params: {
      eventName: string
    }
    query: Record<string, never>
    body: null
    answer: {
      deletedCount: number
      jobId?: string
    }
  }
  /** Show the progress of a deletion */
  'GET /events/jobs/{jobId}': {
    params: {
      jobId: string
    }
    query: Record<string, never>
    body: null
    answer: {
      id: string
      state: 'waiting' | 'active' | 'completed' | 'failed' | 'cancelled' | 'delayed'
      progress: number
      /** When completed */
      result: {
        deletedCount: number
      } | null
      data: {
        name: string
        total: number
      }
      failedReason: string | null
    }
  }
  /** List events, newest first */
  'GET /events': {
    params: Record<string, never>
    query: {
      /**
       * Lists only events of this name; aliases such as email.delivered for email.delivery work. A list
       * contains these events only if this parameter names them: email.failed, email.suppressed
       */
      eventName?: string
      limit?: number
      /** `cursor` of the previous page */
      cursor?: string
    }
    body: null
    answer: EventPage
  }
  /** Count events by name, most frequent first */
  'GET /events/stats': {
    params: Record<string, never>
    query: {
      startDate?: string
      endDate?: string
    }
    body: null
    answer: Array<{
      name: string
      count: number
    }>
  }
  /** List the names of events, most frequent first */
  'GET /events/names': {
    params: Record<string, never>
    query: Record<string, never>
    body: null
    answer: {
      eventNames: Array<string>
    }
  }
  /** List the newest events of a contact */
  'GET /events/contact/{contactId}': {
    params: {
      contactId: string
    }
    query: {
      limit?: number
    }
    body: null
    answer: {
      events: Array<Event>
    }
  }
  /** List webhook endpoints, oldest first */
  'GET /webhooks/endpoints': {
    params: Record<string, never>
    query: Record<string, never>
    body: null
    answer: {
      data: Array<WebhookEndpoint>
      total: number
    }
  }
  /** Create a webhook endpoint */
  'POST /webhooks/endpoints': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      /** https is recommended */
      url: string
      /** Names of events, and patterns: `email.*` for all that begin so, `*` for all, tracked ones too */
      events: Array<string>
      description?: string | null
      enabled?: boolean
    }
    answer: {
      id: string
      url: string
      events: Array<string>
      description: string | null
      enabled: boolean
      /** Why the service disabled the endpoint; null if a request did */
      disabledReason: string | null
      /** The first failure since the last success */
      failingSince: string | null
      lastSuccessAt: string | null
      projectId: string
      createdAt: string
      updatedAt: string
      /** `whsec_…`, as Standard Webhooks has it; `whsec_***` to members without the role ADMIN */
      secret: string
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Get a webhook endpoint */
  'GET /webhooks/endpoints/{id}': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: WebhookEndpoint
  }
  /** Change a webhook endpoint */
  'PATCH /webhooks/endpoints/{id}': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: {
      /** https is recommended */
      url?: string
      /** Names of events, and patterns: `email.*` for all that begin so, `*` for all, tracked ones too */
      events?: Array<string>
      description?: string | null
      enabled?: boolean
    }
    answer: WebhookEndpoint & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Delete a webhook endpoint with its deliveries */
  'DELETE /webhooks/endpoints/{id}': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: null
  }
  /** Give a webhook endpoint a new secret */
  'POST /webhooks/endpoints/{id}/rotate-secret': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: {
      id: string
      url: string
      events: Array<string>
      description: string | null
      enabled: boolean
      /** Why the service disabled the endpoint; null if a request did */
      disabledReason: string | null
      /** The first failure since the last success */
      failingSince: string | null
      lastSuccessAt: string | null
      projectId: string
      createdAt: string
      updatedAt: string
      /** `whsec_…`, as Standard Webhooks has it; `whsec_***` to members without the role ADMIN */
      secret: string
      /** Until then the previous secret signs, too; null without one */
      previousSecretUntil: string | null
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Send the event webhook.test to an endpoint now */
  'POST /webhooks/endpoints/{id}/test': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: WebhookDelivery & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** List the deliveries of a webhook endpoint, newest first */
  'GET /webhooks/endpoints/{id}/deliveries': {
    params: {
      id: string
    }
    query: {
      status?: 'PENDING' | 'SUCCEEDED' | 'FAILED'
      limit?: number
      /** `cursor` of the previous page */
      cursor?: string
    }
    body: null
    answer: WebhookDeliveryPage
  }
  /** Send the event of a delivery again */
  'POST /webhooks/endpoints/{id}/deliveries/{deliveryId}/replay': {
    params: {
      id: string
      deliveryId: string
    }
    query: Record<string, never>
    body: null
    answer: WebhookDelivery & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Send the events of a span of time again */
  'POST /webhooks/endpoints/{id}/replay': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: {
      /** At most 30 days ago */
      since: string
      /** Now, if absent */
      until?: string
    }
    answer: QueuedJob & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Show the state of a replay */
  'GET /webhooks/endpoints/{id}/replay/{jobId}': {
    params: {
      id: string
      jobId: string
    }
    query: Record<string, never>
    body: null
    answer: {
      id: string
      state: 'waiting' | 'active' | 'completed' | 'failed' | 'cancelled' | 'delayed'
      progress: number
      /** The number of deliveries made, when completed */
      result: {
        created: number
      } | null
      data: {
        endpointId: string
        since: string
        until: string
      }
      failedReason: string | null
    }
  }
  /** Show the secret that signs the requests of the project's workflows */
  'GET /webhooks/signing-secret': {
    params: Record<string, never>
    query: Record<string, never>
    body: null
    answer: WebhookSigningSecret
  }
  /** Make a new secret for the requests of workflows */
  'POST /webhooks/signing-secret/rotate': {
    params: Record<string, never>
    query: Record<string, never>
    body: null
    answer: WebhookSigningSecret & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** List activities, newest first; by default of the last 30 days */
  'GET /activity': {
    params: Record<string, never>
    query: {
      limit?: number
      /** `cursor` of the previous page */
      cursor?: string
      /**
       * Activity types, separated by commas; unknown ones are ignored. Types that the feed shows only if
       * they are named here: email.failed, email.suppressed
       */
      types?: string
      contactId?: string
      /** summary: emails without their bodies, for a fast feed */
      fields?: 'summary'
      startDate?: string
      endDate?: string
    }
    body: null
    answer: ActivityPage
  }
  /** Show figures for the last 30 days or for a range; up to a minute old */
  'GET /activity/stats': {
    params: Record<string, never>
    query: {
      startDate?: string
      endDate?: string
    }
    body: null
    answer: ActivityStats
  }
  /** Count the activities of the last minutes */
  'GET /activity/recent-count': {
    params: Record<string, never>
    query: {
      minutes?: number
    }
    body: null
    answer: {
      count: number
      minutes: number
    }
  }
  /** List the types of activities */
  'GET /activity/types': {
    params: Record<string, never>
    query: Record<string, never>
    body: null
    answer: {
      types: Array<string>
    }
  }
  /** List scheduled campaigns and emails, and active executions, soonest first */
  'GET /activity/upcoming': {
    params: Record<string, never>
    query: {
      limit?: number
      daysAhead?: number
    }
    body: null
    answer: {
      activities: Array<Activity>
    }
  }
  /** Show the figures of all mail of a range, and of the equal range before */
  'GET /analytics/overview': {
    params: Record<string, never>
    query: {
      /**
       * The first day (YYYY-MM-DD) in the time zone, or an instant in ISO 8601 or RFC 1123. By default a
       * range has 30 days; the longest has 90.
       */
      from?: string
      /**
       * The last day, which is part of the range, or the instant at which it ends; today by default.
       * Instants widen the range to whole quarters of an hour.
       */
      to?: string
      /** A time zone of the IANA database, such as Asia/Kathmandu; UTC by default */
      tz?: string
      /** Only mail of this kind; ALL by default */
      stream?: 'ALL' | 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW'
    }
    body: null
    answer: AnalyticsOverview
  }
  /** Show the figures of mail by days or hours */
  'GET /analytics/timeseries': {
    params: Record<string, never>
    query: {
      /** A date, or an instant in ISO 8601 or RFC 1123; by default a range has 30 days, at most 90 */
      startDate?: string
      /** A date, or an instant in ISO 8601 or RFC 1123; the day is part of the range. Today by default */
      endDate?: string
      /**
       * The first day (YYYY-MM-DD) in the time zone, or an instant in ISO 8601 or RFC 1123. By default a
       * range has 30 days; the longest has 90.
       */
      from?: string
      /**
       * The last day, which is part of the range, or the instant at which it ends; today by default.
       * Instants widen the range to whole quarters of an hour.
       */
      to?: string
      /** A time zone of the IANA database, such as Asia/Kathmandu; UTC by default */
      tz?: string
      /** Only mail of this kind; ALL by default */
      stream?: 'ALL' | 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW'
      /** By default hours for ranges of up to two days, else days; hours for up to 14 days */
      granularity?: 'hour' | 'day'
    }
    body: null
    answer: AnalyticsTimeseries | AnalyticsDays
  }
  /** Show bounces and complaints, and how mail fared with each receiving provider */
  'GET /analytics/deliverability': {
    params: Record<string, never>
    query: {
      /**
       * The first day (YYYY-MM-DD) in the time zone, or an instant in ISO 8601 or RFC 1123. By default a
       * range has 30 days; the longest has 90.
       */
      from?: string
      /**
       * The last day, which is part of the range, or the instant at which it ends; today by default.
       * Instants widen the range to whole quarters of an hour.
       */
      to?: string
      /** A time zone of the IANA database, such as Asia/Kathmandu; UTC by default */
      tz?: string
      /** Only mail of this kind; ALL by default */
      stream?: 'ALL' | 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW'
    }
    body: null
    answer: AnalyticsDeliverability
  }
  /** List the campaigns, templates or workflows with most mail, or by another metric */
  'GET /analytics/leaderboard': {
    params: Record<string, never>
    query: {
      /**
       * The first day (YYYY-MM-DD) in the time zone, or an instant in ISO 8601 or RFC 1123. By default a
       * range has 30 days; the longest has 90.
       */
      from?: string
      /**
       * The last day, which is part of the range, or the instant at which it ends; today by default.
       * Instants widen the range to whole quarters of an hour.
       */
      to?: string
      /** A time zone of the IANA database, such as Asia/Kathmandu; UTC by default */
      tz?: string
      /** Only mail of this kind; ALL by default */
      stream?: 'ALL' | 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW'
      /** campaigns by default */
      kind?: 'campaigns' | 'templates' | 'workflows'
      /** The metric to order by, highest first; sent by default */
      sort?:
        | 'sent'
        | 'delivered'
        | 'opened'
        | 'clicked'
        | 'bounced'
        | 'complained'
        | 'unsubscribed'
        | 'deliveryRate'
        | 'openRate'
        | 'clickRate'
        | 'clickToOpenRate'
        | 'bounceRate'
        | 'complaintRate'
        | 'unsubscribeRate'
      limit?: number
    }
    body: null
    answer: AnalyticsLeaderboard
  }
  /** List the links that were clicked in the mail of a range, most clicks first */
  'GET /analytics/links': {
    params: Record<string, never>
    query: {
      /**
       * The first day (YYYY-MM-DD) in the time zone, or an instant in ISO 8601 or RFC 1123. By default a
       * range has 30 days; the longest has 90.
       */
      from?: string
      /**
       * The last day, which is part of the range, or the instant at which it ends; today by default.
       * Instants widen the range to whole quarters of an hour.
       */
      to?: string
      /** A time zone of the IANA database, such as Asia/Kathmandu; UTC by default */
      tz?: string
      /** Only mail of this kind; ALL by default */
      stream?: 'ALL' | 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW'
      limit?: number
    }
    body: null
    answer: AnalyticsLinks
  }
  /** List the events of a range by how often they happened */
  'GET /analytics/events': {
    params: Record<string, never>
    query: {
      /**
       * The first day (YYYY-MM-DD) in the time zone, or an instant in ISO 8601 or RFC 1123. By default a
       * range has 30 days; the longest has 90.
       */
      from?: string
      /**
       * The last day, which is part of the range, or the instant at which it ends; today by default.
       * Instants widen the range to whole quarters of an hour.
       */
      to?: string
      /** A time zone of the IANA database, such as Asia/Kathmandu; UTC by default */
      tz?: string
      /** Only mail of this kind; ALL by default */
      stream?: 'ALL' | 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW'
      limit?: number
    }
    body: null
    answer: AnalyticsEvents
  }
  /** List the campaigns sent in a range that most recipients opened */
  'GET /analytics/top-campaigns': {
    params: Record<string, never>
    query: {
      /** A date, or an instant in ISO 8601 or RFC 1123; by default a range has 30 days, at most 90 */
      startDate?: string
      /** A date, or an instant in ISO 8601 or RFC 1123; the day is part of the range. Today by default */
      endDate?: string
      limit?: number
    }
    body: null
    answer: TopCampaigns
  }
  /** Show how many campaigns there are, and their average rates */
  'GET /analytics/campaign-stats': {
    params: Record<string, never>
    query: {
      /** A date, or an instant in ISO 8601 or RFC 1123; by default a range has 30 days, at most 90 */
      startDate?: string
      /** A date, or an instant in ISO 8601 or RFC 1123; the day is part of the range. Today by default */
      endDate?: string
    }
    body: null
    answer: AnalyticsCampaignStats
  }
  /** List the most frequent events of a range, with their trend */
  'GET /analytics/top-events': {
    params: Record<string, never>
    query: {
      /** A date, or an instant in ISO 8601 or RFC 1123; by default a range has 30 days, at most 90 */
      startDate?: string
      /** A date, or an instant in ISO 8601 or RFC 1123; the day is part of the range. Today by default */
      endDate?: string
      limit?: number
    }
    body: null
    answer: TopEvents
  }
  /** Verify many addresses */
  'POST /contacts/verify': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      /** The field that selects the addresses; by default the field that the request has */
      mode?: 'emails' | 'ids' | 'query'
      emails?: Array<string>
      contactIds?: Array<string>
      /** Selects contacts; {} selects all of them */
      filter?: {
        /** Part of the address */
        search?: string
        subscribed?: boolean
        condition?: Condition & (Record<string, unknown> | null)
      }
      /** With filter: contacts to leave out */
      excludeIds?: Array<string>
    }
    answer: QueuedJob & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Show the progress and the result of a verification */
  'GET /contacts/verify/{jobId}': {
    params: {
      jobId: string
    }
    query: Record<string, never>
    body: null
    answer: {
      id: string
      state: 'waiting' | 'active' | 'completed' | 'failed' | 'cancelled' | 'delayed'
      progress: number
      /**
       * When completed: total = valid + invalid + unknown (name servers did not respond). The invalid
       * ones are counted as malformed, domainMissing and noMx; further counts are disposable, alias,
       * personal, typo, plusAddressed, and notFound (ids without a contact). For up to 1000 addresses,
       * `results` has all of them; for more, it has the first 1000 that are invalid, unknown, mistyped or
       * disposable; `resultsOmitted` counts the rest. Each has email, contactId, state (valid, invalid,
       * unknown), cause (malformed, domain-missing, no-mx or null), the flags of POST /v1/verify without
       * hasWebsite, reasons and suggestedEmail.
       */
      result?: unknown
      /** The parameters of the job */
      data?: unknown
      failedReason: string | null
    }
  }
  /** Show the contact of a token */
  'GET /contacts/public/{id}': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: PublicContact
  }
  /** Subscribe the contact */
  'POST /contacts/public/{id}/subscribe': {
    params: {
      id: string
    }
    query: {
      /** The email that led to this call; ignored unless it was sent to the contact */
      e?: string
    }
    body: null
    answer: {
      /** Null once the contact was deleted */
      id: string | null
      /** Null when the address is no longer stored */
      email: string | null
      subscribed: boolean
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Unsubscribe the contact */
  'POST /contacts/public/{id}/unsubscribe': {
    params: {
      id: string
    }
    query: {
      /** The email that led to this call; ignored unless it was sent to the contact */
      e?: string
    }
    body: null
    answer: {
      /** Null once the contact was deleted */
      id: string | null
      /** Null when the address is no longer stored */
      email: string | null
      subscribed: boolean
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** List the fields of contacts by name */
  'GET /contacts/fields': {
    params: Record<string, never>
    query: Record<string, never>
    body: null
    answer: {
      fields: Array<{
        field: string
        type: 'string' | 'number' | 'boolean' | 'date'
        /** Percentage of the contacts that have the field */
        coverage: number
      }>
      count: number
    }
  }
  /** List the distinct values of a field */
  'GET /contacts/fields/{field}/values': {
    params: {
      field: string
    }
    query: {
      limit?: number
    }
    body: null
    answer: {
      field: string
      values: Array<string | number | boolean>
      /** The number of values in the list */
      count: number
      limit: number
    }
  }
  /** Show what uses a field */
  'GET /contacts/fields/{field}/usage': {
    params: {
      field: string
    }
    query: Record<string, never>
    body: null
    answer: {
      usedInSegments: Array<{
        id: string
        name: string
      }>
      usedInCampaigns: Array<{
        id: string
        name: string
      }>
      usedInWorkflows: Array<{
        id: string
        name: string
      }>
      /** The number of contacts that have the field */
      contactCount: number
      canDelete: boolean
    }
  }
  /** Delete a field of `data` from all contacts */
  'DELETE /contacts/fields/{field}': {
    params: {
      field: string
    }
    query: Record<string, never>
    body: null
    answer: {
      /** The number of contacts that had the field */
      deletedFrom: number
      jobId?: string
    }
  }
  /** Subscribe contacts */
  'POST /contacts/bulk-subscribe': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      mode?: 'ids' | 'query'
      /** For mode ids */
      contactIds?: Array<string>
      /** For mode query; {} selects all contacts */
      filter?: {
        /** Part of the address */
        search?: string
        subscribed?: boolean
        condition?: Condition & (Record<string, unknown> | null)
      }
      /** For mode query: contacts to leave out */
      excludeIds?: Array<string>
      /**
       * Whether people who left by themselves or complained are subscribed too; false by default: they
       * stay unsubscribed and are counted in `keptUnsubscribedCount`
       */
      resubscribe?: boolean
    }
    answer: QueuedJob & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Unsubscribe contacts */
  'POST /contacts/bulk-unsubscribe': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      mode?: 'ids' | 'query'
      /** For mode ids */
      contactIds?: Array<string>
      /** For mode query; {} selects all contacts */
      filter?: {
        /** Part of the address */
        search?: string
        subscribed?: boolean
        condition?: Condition & (Record<string, unknown> | null)
      }
      /** For mode query: contacts to leave out */
      excludeIds?: Array<string>
    }
    answer: QueuedJob & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Delete contacts with their emails and events */
  'POST /contacts/bulk-delete': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      mode?: 'ids' | 'query'
      /** For mode ids */
      contactIds?: Array<string>
      /** For mode query; {} selects all contacts */
      filter?: {
        /** Part of the address */
        search?: string
        subscribed?: boolean
        condition?: Condition & (Record<string, unknown> | null)
      }
      /** For mode query: contacts to leave out */
      excludeIds?: Array<string>
    }
    answer: QueuedJob & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Show the progress of a bulk job */
  'GET /contacts/bulk/{jobId}': {
    params: {
      jobId: string
    }
    query: Record<string, never>
    body: null
    answer: {
      id: string
      state: 'waiting' | 'active' | 'completed' | 'failed' | 'cancelled' | 'delayed'
      progress: number
      /**
       * When completed: operation, totalRequested, successCount, unchangedCount, keptUnsubscribedCount
       * (those among the unchanged who left), failureCount, errors (contactId, email, error)
       */
      result?: unknown
      /** The parameters of the job */
      data?: unknown
      failedReason: string | null
    }
  }
  /** Import contacts from a CSV file */
  'POST /contacts/import': {
    params: Record<string, never>
    query: Record<string, never>
    body: FormData
    answer: QueuedJob
  }
  /** Show the progress of an import */
  'GET /contacts/import/{jobId}': {
    params: {
      jobId: string
    }
    query: Record<string, never>
    body: null
    answer: {
      id: string
      state: 'waiting' | 'active' | 'completed' | 'failed' | 'cancelled' | 'delayed'
      progress: number
      result: {
        /** Rows below the header; empty rows are not counted */
        totalRows: number
        successCount: number
        createdCount: number
        /** Contacts that existed, including those that did not change */
        updatedCount: number
        failureCount: number
        /** The first 1,000 */
        errors: Array<{
          /** Rows are counted from the header, which is row 1 */
          row: number
          /** The line in the file */
          line: number
          email: string
          error: string
        }>
        /** About the file as a whole, as text for people, with line numbers */
        warnings: Array<string>
        /**
         * How the columns of data are read; `mixed` in an export of this service where each cell has its
         * own type; `json`: objects whose keys became keys of the data
         */
        columns: Array<{
          field: string
          type: 'text' | 'number' | 'boolean' | 'mixed' | 'json'
          /** Why a column with numbers or booleans is read as text */
          reason: string | null
          /**
           * Of `json` only: the first 50 keys of its objects, which become keys of the data; each is shown up
           * to 60 characters
           */
          keys?: Array<string>
        }>
        /** What was not taken as it is */
        damage: {
          /** Rows that are no UTF-8 and were read as Windows-1252 */
          guessedRows: number
          /** Characters that could not be read and became U+FFFD */
          replacedCharacters: number
          /** Cells with a value in a column without a field */
          droppedCells: number
          /** Values that were too long and were shortened */
          cutFields: number
        }
        /**
         * At most 20 names that an import does not know: fields of the form, headers in `mapping` that the
         * file does not have, and columns that contacts cannot have
         */
        unknownFields: Array<FieldWarning>
        /**
         * Contacts that became subscribed: new ones, and those that were unsubscribed before. A contact
         * that is unsubscribed after one row and subscribed by a later row counts in both
         */
        subscribedCount: number
        /**
         * Contacts that became unsubscribed: new ones, and those that were subscribed before. Also those of
         * rows in `errors` whose data alone was refused
         */
        unsubscribedCount: number
        /**
         * Rows that would have subscribed a person who left, or whom another row unsubscribes, and rows of
         * contacts who are unsubscribed here and get mail from another service, as its column says: these
         * rows subscribe nobody. They count above too
         */
        keptUnsubscribedCount: number
        /**
         * The words of columns that say who gets mail, and how each was read: up to 20 words of each of up
         * to 10 columns
         */
        subscriptionWords: Array<{
          column: string
          /** In lower case; null for all further texts of the column together */
          word: string | null
          rows: number
          readAs: 'subscribed' | 'unsubscribed' | 'unchanged'
        }>
      } | null
      /** The upload, without the file */
      data: {
        filename: string
        sizeBytes: number
        mapping: Record<string, string | null>
        types: 'values' | 'strings'
        subscribed: boolean
        resubscribe: boolean
        /** The counts say what would happen; nothing changed */
        dryRun: boolean
      }
      failedReason: string | null
    }
  }
  /** Export contacts as CSV, oldest first */
  'GET /contacts/export': {
    params: Record<string, never>
    query: {
      subscribed?: boolean
      /** Part of the address */
      search?: string
      /** A condition as JSON */
      filter?: string
      segmentId?: string
      /** Start with a byte order mark, without which Excel misreads accents */
      bom?: boolean
    }
    body: null
    answer: null
  }
  /** List contacts, newest first */
  'GET /contacts': {
    params: Record<string, never>
    query: {
      /** `cursor` of the previous page, or the id of its last contact */
      cursor?: string
      /**
       * Part of the address, in any letter case. In projects with more than 100,000 contacts, searches of
       * one or two characters cover only the newest 20,000
       */
      search?: string
      sort?: 'createdAt' | 'email'
      dir?: 'asc' | 'desc'
      limit?: number
      subscribed?: boolean
      /** A condition as JSON. The members of a segment: GET /segments/:id/contacts */
      filter?: string
    }
    body: null
    answer: ContactPage
  }
  /** Create a contact, or change the contact with this address */
  'POST /contacts': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      email: string
      /** Defaults to true for a new contact; an existing contact keeps its state */
      subscribed?: boolean
      /**
       * true: the person asked to be unsubscribed. The contact is unsubscribed, and imports, bulk work,
       * defaults and the public key do not subscribe the address again. false and null change nothing
       */
      unsubscribed?: boolean | null
      data?: Record<string, unknown> | null
    }
    answer: {
      id: string
      email: string
      subscribed: boolean
      data: Record<string, unknown> | null
      projectId: string
      createdAt: string
      updatedAt: string
      _meta: {
        isNew: boolean
        isUpdate: boolean
      }
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** List contacts by a condition */
  'POST /contacts/query': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      /** `cursor` of the previous page, or the id of its last contact */
      cursor?: string
      /**
       * Part of the address, in any letter case. In projects with more than 100,000 contacts, searches of
       * one or two characters cover only the newest 20,000
       */
      search?: string
      sort?: 'createdAt' | 'email'
      dir?: 'asc' | 'desc'
      limit?: number
      subscribed?: boolean
      filter?: Condition & (Record<string, unknown> | null)
      condition?: Condition & (Record<string, unknown> | null)
    }
    answer: ContactPage & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Look up which addresses belong to contacts */
  'POST /contacts/lookup': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      emails: Array<string>
    }
    answer: {
      found: Array<string>
      notFound: Array<string>
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Show a contact */
  'GET /contacts/{id}': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: Contact
  }
  /** Change a contact */
  'PATCH /contacts/{id}': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: {
      email?: string
      subscribed?: boolean
      /**
       * true: the person asked to be unsubscribed. The contact is unsubscribed, and imports, bulk work,
       * defaults and the public key do not subscribe the address again. false and null change nothing
       */
      unsubscribed?: boolean | null
      /** Merged with the existing data; null clears the data */
      data?: Record<string, unknown> | null
    }
    answer: Contact & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Delete a contact with its emails and events */
  'DELETE /contacts/{id}': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: null
  }
  /** Log in */
  'POST /auth/login': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      email: string
      password: string
      /** Six digits of the authenticator app, or a recovery code */
      code?: string
    }
    answer: LoginResult & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Log out by a link */
  'GET /auth/logout': {
    params: Record<string, never>
    query: Record<string, never>
    body: null
    answer: true
  }
  /** Log out */
  'POST /auth/logout': {
    params: Record<string, never>
    query: Record<string, never>
    body: null
    answer: true
  }
  /** Sign up */
  'POST /auth/signup': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      email: string
      password: string
    }
    answer:
      | {
          success: true
          data: {
            id: string
            email: string
          }
        }
      | {
          success: false
          /** Why not, for the person who signs up */
          data: string
        }
  }
  /** Verify an address by a mailed token */
  'POST /auth/verify-email': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      token: string
    }
    answer: {
      success: true
      data: {
        message: string
      }
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Ask for another verification mail */
  'POST /auth/request-verification': {
    params: Record<string, never>
    query: Record<string, never>
    body: null
    answer: {
      success: true
      data: {
        message: string
      }
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Ask for a mail to choose a new password */
  'POST /auth/request-password-reset': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      email: string
    }
    answer: {
      success: true
      data: {
        message: string
      }
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Choose a new password by a mailed token */
  'POST /auth/reset-password': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      token: string
      newPassword: string
    }
    answer: {
      success: true
      data: {
        message: string
      }
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Set the server up */
  'POST /setup': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      /** What the link has behind `#` */
      token: string
      email: string
      password: string
      /** Without it, no project is made */
      projectName?: string
    }
    answer: LoginResult & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Show with which providers people log in */
  'GET /auth/oauth-config': {
    params: Record<string, never>
    query: Record<string, never>
    body: null
    answer: {
      success: true
      data: IdentityProviders
    }
  }
  /** Show the user who has logged in */
  'GET /users/@me': {
    params: Record<string, never>
    query: Record<string, never>
    body: null
    answer: User
  }
  /** Change the password, or the language and the time zone */
  'PATCH /users/@me': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      currentPassword?: string
      newPassword?: string
      language?: string
      timezone?: string
      /** It cannot be changed: another address than that of the account is refused */
      email?: unknown
    }
    answer: User & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** List the sessions of the user, newest first */
  'GET /users/@me/sessions': {
    params: Record<string, never>
    query: Record<string, never>
    body: null
    answer: Array<Session>
  }
  /** End a session */
  'DELETE /users/@me/sessions/{id}': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: null
  }
  /** Make the secret of a second factor */
  'POST /users/@me/totp': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      password: string
    }
    answer: NewSecondFactor & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Turn the second factor off */
  'DELETE /users/@me/totp': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      password: string
      /** Six digits of the authenticator app, or a recovery code */
      code: string
    }
    answer: null
  }
  /** Turn the second factor on */
  'POST /users/@me/totp/confirm': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      /** Six digits of the authenticator app, or a recovery code */
      code: string
    }
    answer: RecoveryCodes & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** List your projects, newest first */
  'GET /users/@me/projects': {
    params: Record<string, never>
    query: Record<string, never>
    body: null
    answer: Array<Project>
  }
  /** Create a project */
  'POST /users/@me/projects': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      /** Without invisible characters, and without letters that imitate those of others */
      name: string
    }
    answer: Project & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Change the settings of a project */
  'PATCH /users/@me/projects/{id}': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: {
      /** Without invisible characters, and without letters that imitate those of others */
      name?: string
      tracking?: 'ENABLED' | 'DISABLED' | 'MARKETING_ONLY'
      /** Of pages and footers, such as `en` or `pt-BR` */
      language?: string
      /** One line, in the footer of marketing mail and as the variable `postalAddress`; null: none */
      postalAddress?: string | null
      /**
       * Whether `{{ … }}` in the subject and the text of submitted mail is rendered; a message overrides
       * it with the header field `X-Pillarbox-Template: yes` or `no`. False in new projects
       */
      submissionTemplates?: boolean
      /**
       * What a fault in the subject, body or text of `POST /v1/send` does: `refuse` answers 422 with its
       * line and column; `send` sends the email with its placeholders filled in, and warns. `refuse` in
       * new projects
       */
      onTemplateFault?: 'send' | 'refuse'
      /**
       * Whether the public key may unsubscribe existing contacts, overwrite their data and learn their
       * ids; false for new projects
       */
      publicKeyMayUpdate?: boolean
    }
    answer: Project & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Delete a project */
  'DELETE /users/@me/projects/{id}': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: {
      success: true
      message: string
    }
  }
  /** Replace both keys of a project */
  'POST /users/@me/projects/{id}/regenerate-keys': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: ProjectWithNewKeys & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Show the key's project, or list yours */
  'GET /projects': {
    params: Record<string, never>
    query: Record<string, never>
    body: null
    answer: {
      success: true
      data: ProjectSummary | Array<ProjectSummary>
    }
  }
  /** Show a project in short */
  'GET /projects/{id}': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: {
      success: true
      data: ProjectSummary
    }
  }
  /** Show how far a project is set up */
  'GET /projects/{id}/setup-state': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: {
      success: true
      data: SetupState
    }
  }
  /** List the receivers of waiting mail, those that slow it first */
  'GET /projects/{id}/receivers': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: Array<Receiver>
  }
  /** List the members of a project, oldest first */
  'GET /projects/{id}/members': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: {
      success: true
      data: Array<ListedProjectMember>
    }
  }
  /** Invite a member */
  'POST /projects/{id}/members': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: {
      email: string
      role?: 'ADMIN' | 'MEMBER'
    }
    answer: {
      success: true
      data: Invited
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Change the role of a member */
  'PATCH /projects/{id}/members/{userId}': {
    params: {
      id: string
      userId: string
    }
    query: Record<string, never>
    body: {
      role: 'ADMIN' | 'MEMBER'
    }
    answer: {
      success: true
      data: ProjectMember
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Remove a member, or leave a project */
  'DELETE /projects/{id}/members/{userId}': {
    params: {
      id: string
      userId: string
    }
    query: Record<string, never>
    body: null
    answer: {
      success: true
      data: {
        message: string
      }
    }
  }
  /** List the open invitations of a project, newest first */
  'GET /projects/{id}/invitations': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: {
      success: true
      data: Array<Invitation>
    }
  }
  /** Revoke an invitation */
  'DELETE /projects/{id}/invitations/{invitationId}': {
    params: {
      id: string
      invitationId: string
    }
    query: Record<string, never>
    body: null
    answer: null
  }
  /** Accept an invitation */
  'POST /auth/accept-invitation': {
    params: Record<string, never>
    query: Record<string, never>
    body: {
      /** From the link of the invitation */
      token: string
      /** For the new account; 6 to 1,000 characters */
      password?: string
    }
    answer: {
      success: true
      data: AcceptedInvitation
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Subscribe a project */
  'POST /users/@me/projects/{id}/checkout': {
    params: {
      id: string
    }
    query: {
      /** One of usd, eur, gbp */
      currency?: string
    }
    body: null
    answer: {
      /** Where the browser goes */
      url: string
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Open the billing portal of a project */
  'POST /users/@me/projects/{id}/billing-portal': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: {
      /** Where the browser goes */
      url: string
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Show what a project has used in the current period */
  'GET /users/@me/projects/{id}/billing-consumption': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: BillingConsumption
  }
  /** List the invoices of a project, newest first */
  'GET /users/@me/projects/{id}/billing-invoices': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: BillingInvoices
  }
  /** Reset a project */
  'POST /users/@me/projects/{id}/reset': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: {
      success: true
      message: string
    } & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Show the last reset of a project */
  'GET /users/@me/projects/{id}/reset': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: {
      success: true
      data: ResetState
    }
  }
  /** Show the limits of a project and their use */
  'GET /users/@me/projects/{id}/billing-limits': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: BillingLimits
  }
  /** Set the limits of a project */
  'PUT /users/@me/projects/{id}/billing-limits': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: {
      /** Emails in a calendar month (UTC); null: no limit */
      workflows: number | null
      /** Emails in a calendar month (UTC); null: no limit */
      campaigns: number | null
      /** Emails in a calendar month (UTC); null: no limit */
      transactional: number | null
      /** Received emails in a calendar month (UTC); they are counted and never refused */
      inbound: number | null
    }
    answer: BillingLimits & {
      /**
       * Fields of the request that had no effect, or not all, each with the name or the change that was
       * probably meant; at most 20, absent without any
       */
      warnings?: Array<FieldWarning>
    }
  }
  /** Show the security metrics of a project of yours */
  'GET /users/@me/projects/{id}/security': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: SecurityMetrics
  }
  /** Show the security metrics of a project */
  'GET /projects/{id}/security': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: {
      success: true
      data: SecurityMetrics
    }
  }
  /** Upload an image */
  'POST /uploads/image': {
    params: Record<string, never>
    query: Record<string, never>
    body: FormData
    answer: Upload
  }
  /** List uploaded images, newest first */
  'GET /uploads': {
    params: Record<string, never>
    query: {
      limit?: number
      /** `cursor` of the previous page */
      cursor?: string
    }
    body: null
    answer: UploadPage
  }
  /** Show an uploaded image */
  'GET /uploads/{name}': {
    params: {
      name: string
    }
    query: Record<string, never>
    body: null
    answer: null
  }
  /** Delete an uploaded image */
  'DELETE /uploads/{name}': {
    params: {
      name: string
    }
    query: Record<string, never>
    body: null
    answer: null
  }
  /** Find records of any kind by id, address or name */
  'GET /search': {
    params: Record<string, never>
    query: {
      /** An id, a Message-ID, the beginning of an address, or a part of a name */
      q: string
    }
    body: null
    answer: Array<SearchResult>
  }
  /** List the jobs that calls have queued */
  'GET /jobs': {
    params: Record<string, never>
    query: {
      limit?: number
      /** `cursor` of the previous page */
      cursor?: string
    }
    body: null
    answer: JobPage
  }
  /** Cancel a job */
  'DELETE /jobs/{id}': {
    params: {
      id: string
    }
    query: Record<string, never>
    body: null
    answer: Job
  }
  /** List the requests to this project, newest first */
  'GET /requests': {
    params: Record<string, never>
    query: {
      limit?: number
      /** `cursor` of the previous page */
      cursor?: string
      /** A status, or a class such as 4xx */
      status?: string
      /** The beginning of the path */
      path?: string
      caller?: 'secret' | 'public' | 'session'
      /**
       * The `requestId` of an error, which every answer has as `X-Request-ID`; the log is about a second
       * behind
       */
      requestId?: string
      startDate?: string
      endDate?: string
    }
    body: null
    answer: ApiRequestPage
  }
  /** Show the features of this server */
  'GET /config': {
    params: Record<string, never>
    query: Record<string, never>
    body: null
    answer: Config
  }
  /** Receive notifications from Amazon SNS for the topics in `sns.topic_arns` */
  'POST /webhooks/sns': {
    params: Record<string, never>
    query: Record<string, never>
    body: SnsNotification
    answer: {
      success: true
    }
  }
  /** Receive events of Stripe */
  'POST /webhooks/incoming/stripe': {
    params: Record<string, never>
    query: Record<string, never>
    body: StripeEvent
    answer: {
      received: true
    }
  }
  /** Show whether the server works */
  'GET /health': {
    params: Record<string, never>
    query: Record<string, never>
    body: null
    answer: Health
  }
  /** Show the checks of the server: the last run of this hour, or a new one */
  'GET /health/checks': {
    params: Record<string, never>
    query: {
      /** `true`: run the checks now, unless they ran within the last minute */
      fresh?: 'true' | 'false'
    }
    body: null
    answer: Checks
  }
}
export type ErrorCode =
  | 'UNAUTHORIZED'
  | 'MISSING_AUTH'
  | 'INVALID_API_KEY'
  | 'INVALID_CREDENTIALS'
  | 'FORBIDDEN'
  | 'PROJECT_ACCESS_DENIED'
  | 'PROJECT_DISABLED'
  | 'EMAIL_VERIFICATION_REQUIRED'
  | 'RESOURCE_NOT_FOUND'
  | 'CONTACT_NOT_FOUND'
  | 'TEMPLATE_NOT_FOUND'
  | 'CAMPAIGN_NOT_FOUND'
  | 'WORKFLOW_NOT_FOUND'
  | 'CONFLICT'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'BAD_REQUEST'
  | 'VALIDATION_ERROR'
  | 'RATE_LIMIT_EXCEEDED'
  | 'BILLING_LIMIT_EXCEEDED'
  | 'UPGRADE_REQUIRED'
  | 'METHOD_NOT_ALLOWED'
  | 'REQUEST_TIMEOUT'
  | 'PAYLOAD_TOO_LARGE'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'MISDIRECTED_REQUEST'
  | 'REQUEST_HEADER_FIELDS_TOO_LARGE'
  | 'INTERNAL_SERVER_ERROR'
  | 'NOT_IMPLEMENTED'
  | 'DATABASE_ERROR'
  | 'INSUFFICIENT_STORAGE'
  | 'EXTERNAL_SERVICE_ERROR'

export type ErrorEnvelope = {
  success: false
  error: {
    code: ErrorCode
    message: string
    statusCode: number
    requestId: string
    errors?: Array<{
      /** Dot path */
      field: string
      message: string
      code: string
      /** The type of the value, if the code is invalid_type */
      received?: unknown
    }>
    details?: Record<string, unknown>
    suggestion?: string
  }
  timestamp: string
}

export type PublicErrorEnvelope = {
  success: false
  error: {
    code: ErrorCode
    message: string
    statusCode: number
    requestId: string
    errors?: Array<{
      /** Dot path */
      field: string
      message: string
      code: string
      /** The type of the value, if the code is invalid_type */
      received?: unknown
    }>
    details?: Record<string, unknown>
    suggestion?: string
  }
  timestamp: string
  /** HTTP status */
  code: number
  message: string
  /** Epoch milliseconds */
  time: number
}

export type AcceptedEmail = {
  contact: {
    id: string
    email: string
  }
  /** The id of the email */
  email: string
}

export type FieldWarning = {
  field: string
  message: string
  suggestion: string | null
}

export type Verification = {
  /** The text as given; of `a@b.example <a@b.example>` the address */
  email: string
  /** The text is an address, and its domain has MX records */
  valid: boolean
  isDisposable: boolean
  /** The domain belongs to a service that forwards to a hidden address */
  isAlias: boolean
  isTypo: boolean
  isPlusAddressed: boolean
  /** The domain belongs to a free mail provider */
  isPersonalEmail: boolean
  domainExists: boolean
  /** The domain has an A or AAAA record */
  hasWebsite: boolean
  /** False for a null MX too (RFC 7505) */
  hasMxRecords: boolean
  /** English texts for people */
  reasons: Array<string>
  /** Present when a typo is likely */
  suggestedEmail?: string
}

export type TemplatePage = {
  templates: Array<Template>
  /** The same as `templates` */
  data: Array<Template>
  page: number
  pageSize: number
  totalPages: number
  /** Of all pages, on the first one; 0 when a cursor was given */
  total: number
  /** Null on the last page */
  cursor: string | null
  /** Also true when the page ended early: a page has at most 2 MB of JSON */
  hasMore: boolean
}

export type Template = {
  id: string
  name: string
  description: string | null
  subject: string
  body: string
  from: string
  fromName: string | null
  replyTo: string | null
  type: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'
  projectId: string
  createdAt: string
  updatedAt: string
}

export type Domain = {
  id: string
  domain: string
  verified: boolean
  trusted: boolean
  status: 'Pending' | 'Success' | 'Failed' | 'TemporaryFailure'
  /** DKIM selectors */
  dkimTokens: Array<string>
  records: Array<DnsRecord>
  projectId: string
  createdAt: string
  updatedAt: string
}

export type DnsRecord = {
  purpose: 'dkim' | 'dkim-ed25519' | 'return-path' | 'return-path-spf' | 'dmarc' | 'replies'
  name: string
  type: string
  value: string
  required: boolean
  /** The state of the record at the last check */
  state: 'found' | 'missing' | 'different' | 'unknown'
  /** The values that the check found */
  found: Array<string>
}

export type DomainVerification = {
  domain: string
  /** DKIM selectors */
  tokens: Array<string>
  status: 'Pending' | 'Success' | 'Failed' | 'TemporaryFailure'
  verified: boolean
  records: Array<DnsRecord>
}

export type Segment = {
  id: string
  name: string
  description: string | null
  type: 'DYNAMIC' | 'STATIC'
  /** Null in a STATIC segment */
  condition?: unknown
  trackMembership: boolean
  /** In a DYNAMIC segment, the result of the last count */
  memberCount: number
  /**
   * What new rules of filters changed in the members at an upgrade, without events; absent if
   * nothing, and after a change of the condition
   */
  filterChange?: {
    at: string
    membersBefore: number
    membersAfter: number
    filters: Array<{
      field: string
      operator: string
    }>
  }
  projectId: string
  createdAt: string
  updatedAt: string
}

/** Selects contacts: groups of filters, with at most 500 filters in all */
export type Condition = {
  /** How the groups are joined */
  logic: 'AND' | 'OR'
  groups: Array<{
    filters: Array<{
      /**
       * email, subscribed, createdAt, updatedAt, data.<key>, event.<name>, email.<activity> or
       * segment.<id>
       */
      field: string
      operator:
        | 'contains'
        | 'equals'
        | 'exists'
        | 'greaterThan'
        | 'greaterThanOrEqual'
        | 'in'
        | 'lessThan'
        | 'lessThanOrEqual'
        | 'memberOfSegment'
        | 'notContains'
        | 'notEquals'
        | 'notExists'
        | 'notIn'
        | 'notMemberOfSegment'
        | 'notTriggered'
        | 'notTriggeredWithin'
        | 'olderThan'
        | 'triggered'
        | 'triggeredOlderThan'
        | 'triggeredWithin'
        | 'within'
      /**
       * The value to compare the field with, a list of values for `in` and `notIn`, or the number of
       * units in a span of time
       */
      value?: string | number | boolean | Array<string | number | boolean>
      /** Of `email.<activity>`: what happened to the email of this campaign */
      campaignId?: string
      /** The unit of a span of time */
      unit?: 'days' | 'hours' | 'minutes'
    }>
    /** Another condition that must hold as well; at most 32 levels deep */
    conditions?: Record<string, unknown>
  }>
}

export type SegmentMemberPage = {
  data: Array<Contact>
  /** At most five minutes old */
  total: number
  page: number
  pageSize: number
  totalPages: number
}

export type Contact = {
  id: string
  email: string
  subscribed: boolean
  data: Record<string, unknown> | null
  projectId: string
  createdAt: string
  updatedAt: string
}

export type CampaignPage = {
  data: Array<ShownCampaign>
  total: number
  page: number
  pageSize: number
  totalPages: number
  /** Null on the last page */
  cursor: string | null
  /** Also true when the page ended early: a page has at most 2 MB of JSON */
  hasMore: boolean
  /** The archived campaigns of the project */
  archivedCount: number
}

export type ShownCampaign = {
  id: string
  name: string
  description: string | null
  subject: string
  body: string
  from: string
  fromName: string | null
  replyTo: string | null
  type: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'
  audienceType: 'ALL' | 'SEGMENT' | 'FILTERED'
  /** Null unless audienceType is FILTERED */
  audienceCondition?: unknown
  /** The same as audienceCondition */
  audienceFilter?: unknown
  segmentId: string | null
  segment: {
    id: string
    name: string
  } | null
  templateId: string | null
  status: 'DRAFT' | 'SCHEDULED' | 'SENDING' | 'SENT' | 'CANCELLED'
  scheduledFor: string | null
  /** The same as scheduledFor */
  scheduledAt: string | null
  maxPerHour: number | null
  version: number
  /** An estimate until the campaign is SENT or CANCELLED */
  totalRecipients: number
  /** At most a second behind */
  sentCount: number
  /** At most a second behind */
  deliveredCount: number
  /** At most a second behind */
  openedCount: number
  /** At most a second behind */
  clickedCount: number
  /** At most a second behind */
  bouncedCount: number
  /** At most a second behind */
  complainedCount: number
  /** At most a second behind */
  unsubscribedCount: number
  pausedAt: string | null
  pauseReason:
    | 'manual'
    | 'brake'
    | 'domain_unverified'
    | 'condition_invalid'
    | 'segment_missing'
    | 'project_disabled'
    | 'billing_limit'
    | 'restored'
    | null
  pauseDetails: Record<string, unknown> | null
  estimatedEndAt: string | null
  archived: boolean
  archivedAt: string | null
  projectId: string
  sentAt: string | null
  createdAt: string
  updatedAt: string
  /**
   * When a campaign goes on that waits because its project is new and has sent as much as it may
   * (`limits.new_project_daily`)
   */
  limitedUntil: string | null
}

export type Campaign = {
  id: string
  name: string
  description: string | null
  subject: string
  body: string
  from: string
  fromName: string | null
  replyTo: string | null
  type: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'
  audienceType: 'ALL' | 'SEGMENT' | 'FILTERED'
  /** Null unless audienceType is FILTERED */
  audienceCondition?: unknown
  /** The same as audienceCondition */
  audienceFilter?: unknown
  segmentId: string | null
  segment: {
    id: string
    name: string
  } | null
  templateId: string | null
  status: 'DRAFT' | 'SCHEDULED' | 'SENDING' | 'SENT' | 'CANCELLED'
  scheduledFor: string | null
  /** The same as scheduledFor */
  scheduledAt: string | null
  maxPerHour: number | null
  version: number
  /** An estimate until the campaign is SENT or CANCELLED */
  totalRecipients: number
  /** At most a second behind */
  sentCount: number
  /** At most a second behind */
  deliveredCount: number
  /** At most a second behind */
  openedCount: number
  /** At most a second behind */
  clickedCount: number
  /** At most a second behind */
  bouncedCount: number
  /** At most a second behind */
  complainedCount: number
  /** At most a second behind */
  unsubscribedCount: number
  pausedAt: string | null
  pauseReason:
    | 'manual'
    | 'brake'
    | 'domain_unverified'
    | 'condition_invalid'
    | 'segment_missing'
    | 'project_disabled'
    | 'billing_limit'
    | 'restored'
    | null
  pauseDetails: Record<string, unknown> | null
  estimatedEndAt: string | null
  archived: boolean
  archivedAt: string | null
  projectId: string
  sentAt: string | null
  createdAt: string
  updatedAt: string
}

export type CampaignStats = {
  totalRecipients: number
  /** Handed over, or refused for good */
  sentCount: number
  /** Without those that bounced later */
  deliveredCount: number
  openedCount: number
  clickedCount: number
  /** A recipient counts once: as complained, else as bounced, else as unsubscribed */
  bouncedCount: number
  complainedCount: number
  unsubscribedCount: number
  /** Given up or cancelled */
  failedCount: number
  /** Percent of sentCount; 0 when nothing was sent */
  openRate: number
  /** Percent of sentCount; 0 when nothing was sent */
  clickRate: number
  /** Percent of sentCount; 0 when nothing was sent */
  bounceRate: number
  /** Percent of sentCount; 0 when nothing was sent */
  deliveryRate: number
  /** Percent of sentCount; 0 when nothing was sent */
  complaintRate: number
  /** Percent of sentCount; 0 when nothing was sent */
  unsubscribeRate: number
  skipped: {
    suppressed: number
    unsubscribed: number
    deleted: number
  }
  /** Emails that wait or are being sent */
  pending: number
  /** Those of them that will be tried again */
  deferred: number
  /** Opens by prefetchers and scanners */
  machineOpens: number
  machineClicks: number
}

export type CampaignRecipientPage = {
  data: Array<{
    emailId: string
    contactId: string
    email: string
    /** The time of the outcome, or of the status */
    occurredAt: string
    status: string
    /** Why the email was not delivered */
    reason: string | null
    reasonCode: ReasonCode
    reasonData: ReasonData
  }>
  /** Of all pages, on the first one; 0 when a cursor was given */
  total: number
  /** Null on the last page */
  cursor: string | null
  /** Also true when the page ended early: a page has at most 2 MB of JSON */
  hasMore: boolean
}

/** The code of the reason; the guide page `reasons` lists all of them */
export type ReasonCode =
  | 'restored'
  | 'domain_held'
  | 'domain_released'
  | 'project_held'
  | 'campaign_paused'
  | 'campaign_pace'
  | 'sender_unverified'
  | 'due_soon'
  | 'no_server'
  | 'receiver_closed'
  | 'receiver_slowed'
  | 'retry_scheduled'
  | 'ends_untried'
  | 'project_rate'
  | 'receiver_busy'
  | 'server_busy'
  | 'project_share'
  | 'project_connections'
  | 'due'
  | 'due_unknown'
  | 'deferred'
  | 'sending'
  | 'server_stopped'
  | 'delivered'
  | 'relayed'
  | 'relayed_delivered'
  | 'bounced'
  | 'bounce_reported'
  | 'suppressed'
  | 'suppression_lifted'
  | 'cancelled'
  | 'given_up'
  | 'given_up_untried'
  | 'refused'
  | 'error'
  | 'received'
  | 'cancelled_by_user'
  | 'all_cancelled_by_user'
  | 'project_disabled'
  | 'workflow_disabled'
  | 'step_removed'
  | 'too_many_starts'
  | 'chain_too_deep'
  | 'exit_step'
  | 'step_without_template'
  | 'step_without_recipient'
  | 'step_recipient_suppressed'
  | 'step_recipient_unsubscribed'
  | 'step_answers_spent'
  | 'step_templates_too_heavy'
  | 'step_wait_lost'
  | 'step_internal_error'
  | 'step_failed'
  | null

/**
 * The values that the sentence has: those that the guide page `reasons` names for the code. null:
 * not known, or there is none
 */
export type ReasonData = {
  answersPerDay?: number
  /** When it happened, or will happen */
  at?: string | null
  attempts?: number | null
  campaignPaused?: boolean
  /** The reply for which the site is limited, if it may be shown */
  cause?: string | null
  /** What the reply means */
  class?: string | null
  complainedAt?: string | null
  connections?: number
  /** An attempt without an outcome, after which the message may have arrived */
  cutOff?: {
    at: string
    interrupted: boolean
  } | null
  /** The domain of the recipient, in A-labels */
  domain?: string
  emailsPerSecond?: number | null
  error?: string | null
  /** A domain whose mail an operator holds, too */
  heldDomain?: string | null
  host?: string | null
  inFlight?: number
  /** The last attempt or report that counts; null before the first */
  last?: {
    class: string | null
    host: string | null
    reply: {
      code: number | null
      enhancedCode: string | null
      /** On one line, at most 401 characters */
      text: string | null
    } | null
    error: string | null
    interrupted: boolean
    maybeDelivered: boolean
  } | null
  maxPerHour?: number
  messagesPerMinute?: number | null
  /** null: it is due now */
  nextAttemptAt?: string | null
  /** Why it cannot be tried again; null if it can */
  obstacle?:
    | 'unsubscribed'
    | 'suppressed'
    | 'sender_unverified'
    | 'content_cleared'
    | 'platform_mail_not_kept'
    | 'project_disabled'
    | 'project_not_enabled_in_time'
    | 'campaign_cancelled'
    | null
  ofCampaign?: boolean
  /** Where a delivery is now; null if it is not known */
  progress?: {
    step: string
    site: string
    host: string | null
    address: string | null
    since: string
  } | null
  recipient?: string | null
  refusal?:
    | 'unsubscribed'
    | 'suppressed'
    | 'sender_unverified'
    | 'content_cleared'
    | 'platform_mail_not_kept'
    | 'project_disabled'
    | 'project_not_enabled_in_time'
    | 'campaign_cancelled'
    | null
  reply?: {
    code: number | null
    enhancedCode: string | null
    /** On one line, at most 401 characters */
    text: string | null
  } | null
  senderVerified?: boolean
  since?: string | null
  /** The receiving system, as `pillarbox queue sites` names it */
  site?: string
  /** Why its site took no mail, while it was not tried */
  siteError?: string | null
  /** What put the address on the suppression list */
  source?: string | null
  suppressedSince?: string | null
  suppression?: 'HARD_BOUNCE' | 'COMPLAINT' | 'MANUAL' | 'STRIKES' | null
  /** The words of the workflow's author */
  text?: string | null
  until?: string | null
} | null

export type WorkflowPage = {
  data: Array<ListedWorkflow>
  total: number
  page: number
  pageSize: number
  totalPages: number
  /** Null on the last page */
  cursor: string | null
  /** Also true when the page ended early: a page has at most 2 MB of JSON */
  hasMore: boolean
}

export type ListedWorkflow = {
  id: string
  name: string
  description: string | null
  enabled: boolean
  triggerType: 'EVENT' | 'MANUAL' | 'SCHEDULE'
  triggerConfig: Record<string, unknown> | null
  allowReentry: boolean
  version: number
  /** Of a SCHEDULE that is enabled */
  nextFireAt: string | null
  projectId: string
  createdAt: string
  updatedAt: string
  _count: {
    steps: number
    executions: number
  }
}

export type WorkflowDetail = {
  id: string
  name: string
  description: string | null
  enabled: boolean
  triggerType: 'EVENT' | 'MANUAL' | 'SCHEDULE'
  triggerConfig: Record<string, unknown> | null
  allowReentry: boolean
  version: number
  /** Of a SCHEDULE that is enabled */
  nextFireAt: string | null
  projectId: string
  createdAt: string
  updatedAt: string
  /** Oldest first */
  steps: Array<WorkflowStep>
}

export type WorkflowStep = {
  id: string
  workflowId: string
  type:
    | 'TRIGGER'
    | 'SEND_EMAIL'
    | 'DELAY'
    | 'WAIT_FOR_EVENT'
    | 'CONDITION'
    | 'EXIT'
    | 'WEBHOOK'
    | 'UPDATE_CONTACT'
  name: string
  position: {
    x: number
    y: number
  }
  config: Record<string, unknown>
  templateId: string | null
  template: {
    id: string
    name: string
  } | null
  outgoingTransitions: Array<WorkflowTransition>
  incomingTransitions: Array<WorkflowTransition>
  createdAt: string
  updatedAt: string
}

export type WorkflowTransition = {
  id: string
  fromStepId: string
  toStepId: string
  /** The branch of a CONDITION */
  condition: {
    branch: string
  } | null
  waitOutcome: 'EVENT' | 'TIMEOUT' | null
  priority: number
  createdAt: string
  updatedAt: string
}

export type ReplacedWorkflow = {
  id: string
  name: string
  description: string | null
  enabled: boolean
  triggerType: 'EVENT' | 'MANUAL' | 'SCHEDULE'
  triggerConfig: Record<string, unknown> | null
  allowReentry: boolean
  version: number
  /** Of a SCHEDULE that is enabled */
  nextFireAt: string | null
  projectId: string
  createdAt: string
  updatedAt: string
  /** Oldest first */
  steps: Array<WorkflowStep>
  /** The UUIDs of the steps by the names of the request, if it had some */
  ids?: Record<string, string>
}

export type WorkflowStats = {
  steps: Array<{
    stepId: string
    name: string
    type: string
    /** Executions that are at the step now */
    waiting: number
    /**
     * Executions that completed the step; a SEND_EMAIL is completed also if its email is FAILED or
     * SUPPRESSED
     */
    completed: number
    /** Executions that the step failed */
    failed: number
    /** Executions that skipped the step, or were cancelled while they waited at it */
    skipped: number
    /** The median time from the beginning of the step to its completion, to 10% */
    medianMs: number | null
  }>
  transitions: Array<{
    transitionId: string
    fromStepId: string
    toStepId: string
    taken: number
  }>
  executions: {
    total: number
    running: number
    waiting: number
    completed: number
    exited: number
    failed: number
    cancelled: number
    /** Starts that the rules of re-entry refused */
    heldBack: number
    /** Starts over the limit, except one an hour */
    tooManyStarts: number
    /** Received mail that a machine seems to have sent, which started nothing */
    automatic: number
    /** Starts with more than 5 executions before them, except one an hour */
    chainTooDeep: number
    /** Starts by events of executions that waited for a place in a minute */
    chainDelayed: number
  }
}

export type WorkflowExecution = {
  id: string
  workflowId: string
  contactId: string
  status: 'RUNNING' | 'WAITING' | 'COMPLETED' | 'EXITED' | 'FAILED' | 'CANCELLED'
  /** Of a FAILED one, the failed step */
  currentStepId: string | null
  exitReason: string | null
  reasonCode: ReasonCode
  reasonData: ReasonData
  context: Record<string, unknown> | null
  /** The event that started it */
  sourceEventId: string | null
  startedAt: string
  completedAt: string | null
  createdAt: string
  updatedAt: string
  contact: {
    id: string
    email: string
  }
  currentStep: {
    id: string
    name: string
    type:
      | 'TRIGGER'
      | 'SEND_EMAIL'
      | 'DELAY'
      | 'WAIT_FOR_EVENT'
      | 'CONDITION'
      | 'EXIT'
      | 'WEBHOOK'
      | 'UPDATE_CONTACT'
  } | null
  /** Executions that led to it, one after the other; 0 unless an event of an execution started it */
  depth: number
  /**
   * Why it does not go on: the database was brought back from a copy, or the start waits because
   * chains begin 1,000 executions of a project in a minute
   */
  heldReason: 'restored' | 'chain' | null
}

export type WorkflowExecutionPage = {
  executions: Array<WorkflowExecution>
  total: number
  page: number
  pageSize: number
  totalPages: number
}

export type QueuedJob = {
  message: string
  jobId: string
}

export type WorkflowExecutionDetail = {
  id: string
  workflowId: string
  contactId: string
  status: 'RUNNING' | 'WAITING' | 'COMPLETED' | 'EXITED' | 'FAILED' | 'CANCELLED'
  /** Of a FAILED one, the failed step */
  currentStepId: string | null
  exitReason: string | null
  reasonCode: ReasonCode
  reasonData: ReasonData
  context: Record<string, unknown> | null
  /** The event that started it */
  sourceEventId: string | null
  startedAt: string
  completedAt: string | null
  createdAt: string
  updatedAt: string
  contact: {
    id: string
    email: string
  }
  currentStep: {
    id: string
    name: string
    type:
      | 'TRIGGER'
      | 'SEND_EMAIL'
      | 'DELAY'
      | 'WAIT_FOR_EVENT'
      | 'CONDITION'
      | 'EXIT'
      | 'WEBHOOK'
      | 'UPDATE_CONTACT'
  } | null
  /** Executions that led to it, one after the other; 0 unless an event of an execution started it */
  depth: number
  /**
   * Why it does not go on: the database was brought back from a copy, or the start waits because
   * chains begin 1,000 executions of a project in a minute
   */
  heldReason: 'restored' | 'chain' | null
  workflow: {
    id: string
    name: string
  }
  stepExecutions: Array<WorkflowStepExecution>
}

export type WorkflowStepExecution = {
  id: string
  executionId: string
  stepId: string
  status: 'PENDING' | 'SCHEDULED' | 'WAITING' | 'RUNNING' | 'COMPLETED' | 'SKIPPED' | 'FAILED'
  /** The end of a DELAY */
  scheduledFor: string | null
  /** The timeout of a WAIT_FOR_EVENT */
  executeAfter: string | null
  input: Record<string, unknown> | null
  output: Record<string, unknown> | null
  error: string | null
  reasonCode: ReasonCode
  reasonData: ReasonData
  startedAt: string
  completedAt: string | null
  createdAt: string
  updatedAt: string
  step: {
    id: string
    name: string
    type:
      | 'TRIGGER'
      | 'SEND_EMAIL'
      | 'DELAY'
      | 'WAIT_FOR_EVENT'
      | 'CONDITION'
      | 'EXIT'
      | 'WEBHOOK'
      | 'UPDATE_CONTACT'
  } | null
}

export type EmailPage = {
  data: Array<EmailSummary>
  /** Of all pages, on the first one; 0 when a cursor was given */
  total: number
  /** Null on the last page */
  cursor: string | null
  /** Also true when the page ended early: a page has at most 2 MB of JSON */
  hasMore: boolean
}

export type EmailSummary = {
  id: string
  contactId: string
  recipientAddress: string
  toName: string | null
  /** As rendered once the email was tried */
  subject: string
  from: string
  fromName: string | null
  replyTo: string | null
  messageId: string
  sourceType: 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW' | 'INBOUND'
  type: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'
  templateId: string | null
  campaignId: string | null
  workflowExecutionId: string | null
  workflowStepExecutionId: string | null
  /** The workflow, and its step, that sent the email */
  workflow: {
    id: string
    name: string
    executionId: string
    stepId: string | null
    stepName: string | null
  } | null
  status:
    | 'PENDING'
    | 'SENDING'
    | 'SENT'
    | 'DELIVERED'
    | 'RECEIVED'
    | 'OPENED'
    | 'CLICKED'
    | 'BOUNCED'
    | 'COMPLAINED'
    | 'FAILED'
    | 'SUPPRESSED'
  /** The state in the queue, as `pillarbox queue` shows it */
  state: string
  sentAt: string | null
  deliveredAt: string | null
  /** The first open by a person */
  openedAt: string | null
  /** The first click by a person */
  clickedAt: string | null
  bouncedAt: string | null
  complainedAt: string | null
  opens: number
  clicks: number
  machineOpens: number
  machineClicks: number
  error: string | null
  isTest: boolean
  projectId: string
  createdAt: string
  updatedAt: string
  /** Where the email stands and why, in words; reasonCode and reasonData say the same */
  reason: string
  reasonCode: ReasonCode
  reasonData: ReasonData
  /** Past if it is due now; null if none is planned */
  nextAttemptAt: string | null
  /** The mailbox provider, as analytics names it: by domain, else by the server that was tried */
  receiver: string
  attempts: number
}

export type EmailCounts = {
  /** null: too many emails to count at once */
  counts: {
    PENDING: number
    SENDING: number
    SENT: number
    DELIVERED: number
    RECEIVED: number
    OPENED: number
    CLICKED: number
    BOUNCED: number
    COMPLAINED: number
    FAILED: number
    SUPPRESSED: number
  } | null
  total: number | null
  tooMany: boolean
}

export type Email = {
  id: string
  contactId: string
  recipientAddress: string
  toName: string | null
  /** As rendered once the email was tried */
  subject: string
  from: string
  fromName: string | null
  replyTo: string | null
  messageId: string
  sourceType: 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW' | 'INBOUND'
  type: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'
  templateId: string | null
  campaignId: string | null
  workflowExecutionId: string | null
  workflowStepExecutionId: string | null
  /** The workflow, and its step, that sent the email */
  workflow: {
    id: string
    name: string
    executionId: string
    stepId: string | null
    stepName: string | null
  } | null
  status:
    | 'PENDING'
    | 'SENDING'
    | 'SENT'
    | 'DELIVERED'
    | 'RECEIVED'
    | 'OPENED'
    | 'CLICKED'
    | 'BOUNCED'
    | 'COMPLAINED'
    | 'FAILED'
    | 'SUPPRESSED'
  /** The state in the queue, as `pillarbox queue` shows it */
  state: string
  sentAt: string | null
  deliveredAt: string | null
  /** The first open by a person */
  openedAt: string | null
  /** The first click by a person */
  clickedAt: string | null
  bouncedAt: string | null
  complainedAt: string | null
  opens: number
  clicks: number
  machineOpens: number
  machineClicks: number
  error: string | null
  isTest: boolean
  projectId: string
  createdAt: string
  updatedAt: string
  /**
   * As the recipient gets it, untracked; null once retention has cleared it, and for mail of the
   * server to its users
   */
  body: string | null
  /** The plain text of received mail */
  text: string | null
  headers: Record<string, string> | null
  attachments: Array<{
    filename: string
    contentType: string
    contentId: string | null
    disposition: string
  }> | null
  /**
   * What was lost, guessed or mended in the message: replaced octets, guessed charsets, cut fields,
   * parts left out; and what a signed message goes without. Unknown names of the request come first
   */
  warnings: Array<string>
  /** Where the email stands and why, in words; reasonCode and reasonData say the same */
  reason: string
  reasonCode: ReasonCode
  reasonData: ReasonData
  /** Past if it is due now; null if none is planned */
  nextAttemptAt: string | null
  /** The mailbox provider, as analytics names it: by domain, else by the server that was tried */
  receiver: string
  giveUpAt: string
  heldAt: string | null
  providerId: string | null
  answeredEmailId: string | null
  templateFaults: Array<{
    part: string
    line: number | null
    column: number | null
    message: string
  }>
  attempts: Array<{
    at: string
    durationMs: number
    host: string | null
    address: string | null
    tls: string | null
    /**
     * `reported-…` for a report after the session; `interrupted` if the server ended before it recorded
     * the outcome, so the message may have arrived
     */
    result: string
    /** What the reply means */
    class: string | null
    reply: {
      code: number | null
      enhancedCode: string | null
      text: string | null
    } | null
    error: string | null
    finalRecipient: string | null
    maybeDelivered: boolean
    steps: Array<Record<string, unknown>>
  }>
  events: Array<{
    id: string
    name: string
    data?: unknown
    createdAt: string
  }>
}

export type SuppressionPage = {
  data: Array<Suppression>
  /** Of all pages, on the first one; 0 when a cursor was given */
  total: number
  /** Null on the last page */
  cursor: string | null
  /** Also true when the page ended early: a page has at most 2 MB of JSON */
  hasMore: boolean
}

export type Suppression = {
  id: string
  email: string
  reason: 'HARD_BOUNCE' | 'COMPLAINT' | 'MANUAL' | 'STRIKES'
  /** The cause of the suppression, as text for people */
  source: string
  /** The email that bounced or that the recipient complained about */
  emailId: string | null
  createdAt: string
}

export type Event = {
  id: string
  name: string
  /** The data as the client gave it, or null */
  data?: unknown
  projectId: string
  contactId: string | null
  emailId: string | null
  createdAt: string
}

export type EventPage = {
  events: Array<{
    id: string
    name: string
    /** The data as the client gave it, or null */
    data?: unknown
    projectId: string
    contactId: string | null
    emailId: string | null
    createdAt: string
    contact: {
      email: string
    } | null
  }>
  /** Of all pages, on the first one; 0 when a cursor was given */
  total: number
  /** Null on the last page */
  cursor: string | null
  /** Also true when the page ended early: a page has at most 2 MB of JSON */
  hasMore: boolean
}

export type WebhookEndpoint = {
  id: string
  url: string
  events: Array<string>
  description: string | null
  enabled: boolean
  /** Why the service disabled the endpoint; null if a request did */
  disabledReason: string | null
  /** The first failure since the last success */
  failingSince: string | null
  lastSuccessAt: string | null
  projectId: string
  createdAt: string
  updatedAt: string
}

export type WebhookDelivery = {
  id: string
  endpointId: string
  /** The header `webhook-id` of all attempts */
  eventId: string
  /** The event's name */
  event: string
  status: 'PENDING' | 'SUCCEEDED' | 'FAILED'
  attempts: number
  /** Of the last attempt */
  statusCode: number | null
  error: string | null
  /** The beginning of the response of a failed attempt */
  response: string | null
  durationMs: number | null
  createdAt: string
  lastAttemptAt: string | null
  nextAttemptAt: string | null
  completedAt: string | null
  /** Why it is not sent: the database was brought back from a copy */
  heldReason: 'restored' | null
}

export type WebhookDeliveryPage = {
  data: Array<WebhookDelivery>
  /** Of all pages, on the first one; 0 when a cursor was given */
  total: number
  /** Null on the last page */
  cursor: string | null
  /** Also true when the page ended early: a page has at most 2 MB of JSON */
  hasMore: boolean
}

export type WebhookSigningSecret = {
  /** `whsec_…`, as Standard Webhooks has it; `whsec_***` to members without the role ADMIN */
  secret: string
  /** Until then the previous secret signs, too; null without one */
  previousSecretUntil: string | null
}

export type ActivityPage = {
  data: Array<Activity>
  /** Of all pages, on the first one; 0 when a cursor was given */
  total: number
  /** Null on the last page */
  cursor: string | null
  /** Also true when the page ended early: a page has at most 2 MB of JSON */
  hasMore: boolean
}

export type Activity = {
  id: string
  type: string
  timestamp: string
  contactEmail?: string
  contactId?: string
  metadata: Record<string, unknown>
}

export type ActivityStats = {
  totalEvents: number
  totalEmailsSent: number
  totalEmailsOpened: number
  totalEmailsClicked: number
  totalWorkflowsStarted: number
  /** Percentage of the emails sent, with two decimals */
  openRate: number
  /** Percentage of the emails sent, with two decimals */
  clickRate: number
}

export type AnalyticsOverview = {
  /** The first instant of the range */
  from: string
  /** The first instant after the range */
  to: string
  tz: string
  stream: 'ALL' | 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW'
  /** False while older events are still being counted; the figures are too low then */
  isComplete: boolean
  current: {
    /** Handed over, or refused for good by the receiver */
    sent: number
    /** Without those that bounced later */
    delivered: number
    /** Opened at least once, not by a machine */
    opened: number
    clicked: number
    bounced: number
    complained: number
    unsubscribed: number
    /** Rates are percent of sent with two decimals */
    deliveryRate: number
    openRate: number
    clickRate: number
    /** Those of the opened emails that were clicked too */
    clickToOpenRate: number
    bounceRate: number
    complaintRate: number
    unsubscribeRate: number
  }
  /** Of the equal range before */
  previous: {
    /** Handed over, or refused for good by the receiver */
    sent: number
    /** Without those that bounced later */
    delivered: number
    /** Opened at least once, not by a machine */
    opened: number
    clicked: number
    bounced: number
    complained: number
    unsubscribed: number
    /** Rates are percent of sent with two decimals */
    deliveryRate: number
    openRate: number
    clickRate: number
    /** Those of the opened emails that were clicked too */
    clickToOpenRate: number
    bounceRate: number
    complaintRate: number
    unsubscribeRate: number
  }
  streams: Array<{
    stream: 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW'
    /** Handed over, or refused for good by the receiver */
    sent: number
    /** Without those that bounced later */
    delivered: number
    /** Opened at least once, not by a machine */
    opened: number
    clicked: number
    bounced: number
    complained: number
    unsubscribed: number
    /** Rates are percent of sent with two decimals */
    deliveryRate: number
    openRate: number
    clickRate: number
    /** Those of the opened emails that were clicked too */
    clickToOpenRate: number
    bounceRate: number
    complaintRate: number
    unsubscribeRate: number
  }>
}

export type AnalyticsTimeseries = {
  /** The first instant of the range */
  from: string
  /** The first instant after the range */
  to: string
  tz: string
  stream: 'ALL' | 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW'
  /** False while older events are still being counted; the figures are too low then */
  isComplete: boolean
  granularity: 'hour' | 'day'
  current: Array<{
    /** A day in the time zone */
    date?: string
    /** The start of an hour in the time zone, with its offset */
    at?: string
    /** Handed over, or refused for good by the receiver */
    sent: number
    /** Without those that bounced later */
    delivered: number
    /** Opened at least once, not by a machine */
    opened: number
    clicked: number
    bounced: number
    complained: number
    unsubscribed: number
    /** Rates are percent of sent with two decimals */
    deliveryRate: number
    openRate: number
    clickRate: number
    /** Those of the opened emails that were clicked too */
    clickToOpenRate: number
    bounceRate: number
    complaintRate: number
    unsubscribeRate: number
  }>
  /** Of the equal range before */
  previous: Array<{
    /** A day in the time zone */
    date?: string
    /** The start of an hour in the time zone, with its offset */
    at?: string
    /** Handed over, or refused for good by the receiver */
    sent: number
    /** Without those that bounced later */
    delivered: number
    /** Opened at least once, not by a machine */
    opened: number
    clicked: number
    bounced: number
    complained: number
    unsubscribed: number
    /** Rates are percent of sent with two decimals */
    deliveryRate: number
    openRate: number
    clickRate: number
    /** Those of the opened emails that were clicked too */
    clickToOpenRate: number
    bounceRate: number
    complaintRate: number
    unsubscribeRate: number
  }>
}

export type AnalyticsDays = Array<{
  /** The first instant of a UTC day */
  date: string
  emails: number
  opens: number
  clicks: number
  bounces: number
  delivered: number
}>

export type AnalyticsDeliverability = {
  /** The first instant of the range */
  from: string
  /** The first instant after the range */
  to: string
  tz: string
  stream: 'ALL' | 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW'
  /** False while older events are still being counted; the figures are too low then */
  isComplete: boolean
  hardBounces: number
  softBounces: number
  complaints: number
  providers: Array<{
    provider: string
    /** Handed over, or refused for good by the receiver */
    sent: number
    /** Without those that bounced later */
    delivered: number
    /** Opened at least once, not by a machine */
    opened: number
    clicked: number
    bounced: number
    complained: number
    unsubscribed: number
    /** Rates are percent of sent with two decimals */
    deliveryRate: number
    openRate: number
    clickRate: number
    /** Those of the opened emails that were clicked too */
    clickToOpenRate: number
    bounceRate: number
    complaintRate: number
    unsubscribeRate: number
    hardBounces: number
    softBounces: number
  }>
}

export type AnalyticsLeaderboard = {
  /** The first instant of the range */
  from: string
  /** The first instant after the range */
  to: string
  tz: string
  stream: 'ALL' | 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW'
  /** False while older events are still being counted; the figures are too low then */
  isComplete: boolean
  kind: 'campaigns' | 'templates' | 'workflows'
  rows: Array<{
    id: string
    /** Null when it was deleted */
    name: string | null
    /** Handed over, or refused for good by the receiver */
    sent: number
    /** Without those that bounced later */
    delivered: number
    /** Opened at least once, not by a machine */
    opened: number
    clicked: number
    bounced: number
    complained: number
    unsubscribed: number
    /** Rates are percent of sent with two decimals */
    deliveryRate: number
    openRate: number
    clickRate: number
    /** Those of the opened emails that were clicked too */
    clickToOpenRate: number
    bounceRate: number
    complaintRate: number
    unsubscribeRate: number
  }>
}

export type AnalyticsLinks = {
  /** The first instant of the range */
  from: string
  /** The first instant after the range */
  to: string
  tz: string
  stream: 'ALL' | 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW'
  /** False while older events are still being counted; the figures are too low then */
  isComplete: boolean
  totalClicks: number
  links: Array<{
    /** Null: all further links together */
    url: string | null
    clicks: number
    /** Emails whose first click was on this link */
    uniqueClickers: number
  }>
}

export type AnalyticsEvents = {
  /** The first instant of the range */
  from: string
  /** The first instant after the range */
  to: string
  tz: string
  stream: 'ALL' | 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW'
  /** False while older events are still being counted; the figures are too low then */
  isComplete: boolean
  events: Array<{
    /** Null: all further names together */
    name: string | null
    count: number
    /** In the equal range before */
    previousCount: number
  }>
}

export type TopCampaigns = Array<{
  id: string
  subject: string
  sentCount: number
  openedCount: number
  clickedCount: number
  /** Percent of sentCount, with two decimals */
  openRate: number
  clickRate: number
}>

export type AnalyticsCampaignStats = {
  /** Made in the range */
  total: number
  /** Of those, drafts and scheduled ones */
  active: number
  /** Sent in the range */
  completed: number
  /** Percent of the mail of the completed ones, with one decimal */
  averageOpenRate: number
  averageClickRate: number
}

export type TopEvents = Array<{
  name: string
  count: number
  /** Percent against the equal range before; 100 for a new event */
  trend: number
}>

export type PublicContact = {
  /** Null once the contact was deleted */
  id: string | null
  /** Null when the address is no longer stored */
  email: string | null
  subscribed: boolean
  /** The language of the contact's pages and footers */
  language:
    | 'en'
    | 'nl'
    | 'fr'
    | 'hi'
    | 'de'
    | 'pt'
    | 'bg'
    | 'cs'
    | 'pl'
    | 'es'
    | 'it'
    | 'zh-TW'
    | 'zh-HK'
    | 'zh-CN'
    | 'ja'
    | 'sv'
    | 'cy'
}

export type ContactPage = {
  data: Array<Contact>
  /** Of all pages, on the first one; 0 when a cursor was given */
  total: number
  /** Null on the last page */
  cursor: string | null
  /** Also true when the page ended early: a page has at most 2 MB of JSON */
  hasMore: boolean
}

export type LoginResult = {
  success: boolean
  /** The password is right, and a code is needed */
  twoFactor?: true
  data:
    | {
        id: string
        email: string
      }
    | string
}

export type IdentityProviders = {
  github: boolean
  google: boolean
  oidc: {
    /** As users know the provider */
    name: string
  } | null
}

export type User = {
  id: string
  email: string
  /** May see the state of the server itself */
  isOperator: boolean
  emailVerified: boolean
  /**
   * The project that an account is bound to until its address is verified: an invitation without mail
   * made it
   */
  onlyProjectId: string | null
  /** How the user logs in */
  method: 'PASSWORD' | 'GITHUB_OAUTH' | 'GOOGLE_OAUTH' | 'OIDC'
  /** Logins need a code */
  twoFactor: boolean
  language: string
  timezone: string
}

export type Session = {
  id: string
  /** The session of this request */
  current: boolean
  createdAt: string
  /** To the minute */
  lastUsedAt: string
  expiresAt: string
  ip: string | null
  userAgent: string | null
}

export type NewSecondFactor = {
  /** Base32, to type into the authenticator app */
  secret: string
  /** `otpauth:`, to show as a QR code */
  uri: string
}

export type RecoveryCodes = {
  /** Each replaces one code of the app; shown only this once */
  recoveryCodes: Array<string>
}

export type Project = {
  id: string
  name: string
  /** The public key */
  public: string
  /** The secret key, masked; complete only in the response that creates it */
  secret: string
  /** To the minute; null if never used */
  publicLastUsedAt: string | null
  /** To the minute; null if never used */
  secretLastUsedAt: string | null
  /** True also while the project is being reset */
  disabled: boolean
  disabledReason:
    | 'PAYMENT_FAILED'
    | 'EMAIL_REPUTATION'
    | 'PHISHING_DETECTED'
    | 'CARD_VERIFICATION_FAILED'
    | 'MANUAL'
    | null
  /** The id of the customer at Stripe */
  customer: string | null
  /** The id of the subscription at Stripe */
  subscription: string | null
  /** Emails in a month (UTC); null: no limit of its own */
  billingLimitWorkflows: number | null
  /** Emails in a month (UTC); null: no limit of its own */
  billingLimitCampaigns: number | null
  /** Emails in a month (UTC); null: no limit of its own */
  billingLimitTransactional: number | null
  /** Emails in a month (UTC); null: no limit of its own */
  billingLimitInbound: number | null
  tracking: 'ENABLED' | 'DISABLED' | 'MARKETING_ONLY'
  language: string
  /** One line, in the footer of marketing mail and as the variable `postalAddress`; null: none */
  postalAddress: string | null
  /**
   * Whether `{{ … }}` in the subject and the text of submitted mail is rendered; a message overrides
   * it with the header field `X-Pillarbox-Template: yes` or `no`. False in new projects
   */
  submissionTemplates: boolean
  /**
   * What a fault in the subject, body or text of `POST /v1/send` does: `refuse` answers 422 with its
   * line and column; `send` sends the email with its placeholders filled in, and warns. `refuse` in
   * new projects
   */
  onTemplateFault: 'send' | 'refuse'
  /** Whether the public key may unsubscribe contacts, change their data and learn ids */
  publicKeyMayUpdate: boolean
  /** The role of the user who asks */
  role: 'OWNER' | 'ADMIN' | 'MEMBER'
  createdAt: string
  updatedAt: string
}

export type ProjectWithNewKeys = {
  id: string
  name: string
  /** The public key */
  public: string
  /** The secret key, masked; complete only in the response that creates it */
  secret: string
  createdAt: string
  updatedAt: string
  /** True also while the project is being reset */
  disabled: boolean
  /** The id of the customer at Stripe */
  customer: string | null
  /** The id of the subscription at Stripe */
  subscription: string | null
}

export type ProjectSummary = {
  id: string
  name: string
  /** The oldest verified domain */
  defaultSenderDomain: string | null
  createdAt: string
}

export type SetupState = {
  hasSubscription: boolean
  hasVerifiedDomain: boolean
  contactCount: number
  hasContacts: boolean
  lastCampaignSentAt: string | null
  hasEnabledWorkflow: boolean
  /** Whether any email has left the server */
  hasSentEmail: boolean
  deliveryMode: 'sandbox' | 'direct' | 'relay'
}

export type Receiver = {
  /** The provider, as in `/analytics/deliverability` */
  receiver: string
  /** Emails that wait, with those of held domains */
  waiting: number
  /** Those of them that wait for another attempt */
  deferred: number
  /** When the first of them is or was due; null if all are held */
  oldestDueAt: string | null
  /**
   * Of the systems of this receiver that are not open, the one with most of this mail: `slowed` gets
   * less mail than at other times, `closed` none now, `held` none until an operator releases it
   */
  state: 'open' | 'slowed' | 'closed' | 'held'
  /** Waiting emails in that state; 0 if it is `open` */
  affected: number
  /** Recipient domains in that state, those with most mail first */
  domains: Array<string>
  /** Null without such a limit */
  messagesPerMinute: number | null
  /** Until when the limit holds; null if accepted mail ends it, or an operator */
  until: string | null
  /**
   * The newest reply to a few of the project's deferred emails, or why they got none; null if none
   * was tried
   */
  reply: {
    /** Null if the attempt failed without a reply */
    code: number | null
    enhancedCode: string | null
    text: string
    at: string
  } | null
}

export type ListedProjectMember = {
  userId: string
  email: string
  /** False while nothing proves that the address belongs to the user */
  emailVerified: boolean
  role: 'OWNER' | 'ADMIN' | 'MEMBER'
  createdAt: string
}

export type Invited = {
  invited: true
  email: string
  role: 'ADMIN' | 'MEMBER'
  /** The link of the invitation, if the server has no mail for its users */
  url?: string
}

export type ProjectMember = {
  userId: string
  email: string
  role: 'OWNER' | 'ADMIN' | 'MEMBER'
}

export type Invitation = {
  id: string
  email: string
  role: 'ADMIN' | 'MEMBER'
  /** The address of the user who invites */
  invitedBy: string
  createdAt: string
  expiresAt: string
}

export type AcceptedInvitation = {
  /** The id of the user */
  id: string
  email: string
  projectId: string
  role: 'OWNER' | 'ADMIN' | 'MEMBER'
}

export type BillingConsumption = {
  period: {
    start: string
    end: string
  }
  usage: {
    /** Credits: 1 for an email, 2 for one with attachments */
    total: number
    /** Always empty */
    records: Array<Record<string, never>>
  }
  /** Null if the customer was deleted at Stripe */
  credits: {
    /** Below zero: what later invoices are reduced by */
    balance: number
    hasCredits: boolean
    /** In the smallest unit of the currency */
    creditAmount: number
    /** In small letters, such as `usd` */
    currency: string | null
  } | null
  /** Null if the subscription ends */
  upcomingInvoice: {
    /** In the smallest unit of the currency */
    amountDue: number
    /** In small letters, such as `usd` */
    currency: string
    periodStart: string
    periodEnd: string
    /** In the smallest unit of the currency */
    subtotal: number
    /** In the smallest unit of the currency */
    total: number
  } | null
}

export type BillingInvoices = {
  /** The newest 100 */
  invoices: Array<{
    id: string
    /** Null for drafts */
    number: string | null
    /** draft, open, paid, uncollectible or void */
    status: string | null
    /** In the smallest unit of the currency */
    amountDue: number
    /** In the smallest unit of the currency */
    amountPaid: number
    /** In small letters, such as `usd` */
    currency: string
    created: string
    periodStart: string
    periodEnd: string
    /** Where it can be paid */
    hostedInvoiceUrl: string | null
    invoicePdf: string | null
    /** In the smallest unit of the currency */
    subtotal: number
    /** In the smallest unit of the currency */
    total: number
    paid: boolean
  }>
  hasUnpaidInvoices: boolean
  unpaidInvoices: Array<{
    id: string
    /** Null for drafts */
    number: string | null
    /** In the smallest unit of the currency */
    amountDue: number
    /** In small letters, such as `usd` */
    currency: string
    /** Where it can be paid */
    hostedInvoiceUrl: string | null
    dueDate: string | null
  }>
}

export type ResetState = {
  /** idle: never reset; running: a reset is under way; done: the last one is done */
  state: 'idle' | 'running' | 'done'
  startedAt: string | null
  /** Percent of the rows */
  progress: number
  completedAt: string | null
}

export type BillingLimits = {
  workflows: LimitUse
  campaigns: LimitUse
  transactional: LimitUse
  inbound: LimitUse
  /** Of the subscription, such as `usd` */
  currency: string | null
}

export type LimitUse = {
  /** Emails in this month; null: no limit */
  limit: number | null
  /** Emails in this month that did not fail */
  usage: number
  /** Of the limit, rounded down to a tenth; 0 without one */
  percentage: number
  /** Whether 80% is reached */
  isWarning: boolean
  /** Whether the limit is reached */
  isBlocked: boolean
}

export type SecurityMetrics = {
  status: {
    projectId: string
    /** Whether nothing is critical */
    isHealthy: boolean
    shouldDisable: boolean
    /** Always zeros */
    twentyFourHour: {
      /** Emails that were sent, or refused for good */
      total: number
      /** Hard bounces */
      bounces: number
      complaints: number
      /** Percent of `total` */
      bounceRate: number
      /** Percent of `total` */
      complaintRate: number
    }
    sevenDay: SecurityCounts
    /** Since the project was last enabled */
    allTime: {
      /** Emails that were sent, or refused for good */
      total: number
      /** Hard bounces */
      bounces: number
      complaints: number
      /** Percent of `total` */
      bounceRate: number
      /** Percent of `total` */
      complaintRate: number
    }
    /** Always false */
    isNewProject: boolean
    violations: Array<string>
    warnings: Array<string>
    /** What `violations` (critical) and `warnings` say, in codes; each once */
    findings: Array<SecurityFinding>
  }
  /** By the rates alone */
  levels: {
    bounce7Day: 'healthy' | 'warning' | 'critical'
    bounceAllTime: 'healthy' | 'warning' | 'critical'
    complaint7Day: 'healthy' | 'warning' | 'critical'
    complaintAllTime: 'healthy' | 'warning' | 'critical'
  }
  isDisabled: boolean
}

export type SecurityCounts = {
  /** Emails that were sent, or refused for good */
  total: number
  /** Hard bounces */
  bounces: number
  complaints: number
  /** Percent of `total` */
  bounceRate: number
  /** Percent of `total` */
  complaintRate: number
}

export type SecurityFinding = {
  kind: 'bounce' | 'complaint'
  level: 'warning' | 'critical'
}

export type Upload = {
  url: string
  /** The last part of the URL */
  key: string
  /** As the client named the file: in this upload, and in the list in its first one */
  filename: string
  contentType: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp'
  /** Bytes, without what was taken out */
  size: number
}

export type UploadPage = {
  data: Array<ListedUpload>
  /** Of all pages, on the first one; 0 when a cursor was given */
  total: number
  /** Null on the last page */
  cursor: string | null
  /** Also true when the page ended early: a page has at most 2 MB of JSON */
  hasMore: boolean
}

export type ListedUpload = {
  url: string
  /** The last part of the URL */
  key: string
  /** As the client named the file: in this upload, and in the list in its first one */
  filename: string
  contentType: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp'
  /** Bytes, without what was taken out */
  size: number
  /** Pixels */
  width: number
  /** Pixels */
  height: number
  createdAt: string
}

export type SearchResult = {
  kind:
    | 'contact'
    | 'email'
    | 'campaign'
    | 'template'
    | 'segment'
    | 'workflow'
    | 'domain'
    | 'request'
    | 'execution'
  id: string
  /**
   * The address of a contact, the subject of an email, the name of a record, the method and path of a
   * request, the name of the workflow of an execution
   */
  title: string
  /**
   * The recipient of an email, `subscribed` or `unsubscribed` for a contact, the status of a campaign
   * or domain, the type of a template or segment, `enabled` or `disabled` for a workflow, the status
   * and error code of a request, the address of the contact of an execution
   */
  detail: string | null
  /** The workflow of an execution, which its path needs; null for all other kinds */
  workflowId: string | null
}

export type JobPage = {
  data: Array<Job>
  /** Of all pages, on the first one; 0 when a cursor was given */
  total: number
  /** Null on the last page */
  cursor: string | null
  /** Also true when the page ended early: a page has at most 2 MB of JSON */
  hasMore: boolean
}

export type Job = {
  id: string
  /** The first part of the id, such as `bulk-delete` */
  kind: string
  /** What the job does */
  label: string
  /** `delayed`: waits for another attempt */
  state: 'waiting' | 'active' | 'completed' | 'failed' | 'cancelled' | 'delayed'
  /** Percent */
  progress: number
  /** Rows, contacts, addresses or events so far */
  done: number
  /** About how many there are; null: not known */
  total: number | null
  /** The job stops after its step */
  isCancelling: boolean
  createdAt: string
  startedAt: string | null
  finishedAt: string | null
  /** Who asked for the job; null for a key, and for a deleted user */
  by: {
    userId: string
    email: string
  } | null
  failedReason: string | null
  /** The path that shows the job with its result */
  statusUrl: string
}

export type ApiRequestPage = {
  data: Array<ApiRequest>
  /** Of all pages, on the first one; 0 when a cursor was given */
  total: number
  /** Null on the last page */
  cursor: string | null
  /** Also true when the page ended early: a page has at most 2 MB of JSON */
  hasMore: boolean
}

export type ApiRequest = {
  /** `X-Request-ID` */
  id: string
  method: string
  /** Without the query */
  path: string
  statusCode: number
  /** Milliseconds */
  duration: number
  projectId: string
  /** The user of a session */
  userId: string | null
  authType: 'apiKey' | 'jwt' | null
  /** The key, or a session; null for requests of older versions */
  caller: 'secret' | 'public' | 'session' | null
  ip: string | null
  userAgent: string | null
  errorCode: string | null
  errorMessage: string | null
  /** Bytes of the body */
  requestSize: number | null
  /** Bytes of the body as it was sent */
  responseSize: number | null
  /** The first warning of an answer that took effect, such as a name that was ignored */
  warning: string | null
  createdAt: string
}

export type Config = {
  /** Without a session it is shown once the server is set up */
  environment?: 'sandbox' | 'direct' | 'relay'
  urls: {
    api: string
    dashboard: string
    landing: string
    wiki: string | null
  }
  features: {
    billing: {
      enabled: boolean
    }
    storage: {
      /** Whether images can be uploaded */
      s3Enabled: boolean
    }
    authProviders: {
      github: boolean
      google: boolean
      oidc: {
        name: string
      } | null
    }
    signup: {
      signupsDisabled: boolean
    }
    email: {
      trackingToggleEnabled: boolean
    }
    smtp: {
      enabled: boolean
      domain: string | null
      /** Implicit TLS, and STARTTLS */
      ports: {
        /** Null: there is no such listener */
        secure: number | null
        /** Null: there is no such listener */
        submission: number | null
      } | null
    }
    sponsor: {
      enabled: boolean
    }
  }
  aws: {
    sesRegion: string | null
    mailFromSubdomain: string
  }
  setup: {
    /** Whether no user may log in, so that `POST /setup` makes the first */
    needed: boolean
  }
  /** To sessions only, as the two below */
  version?: string
  /** The name of the server in SMTP */
  hostname?: string
  limits?: {
    /** Of a CSV file */
    importBytes: number
    /** Ids that one bulk request may name */
    bulkIds: number
    /** Addresses of one test */
    testAddresses: number
    /** Of an image */
    uploadBytes: number
    csvColumns: number
  }
}

export type SnsNotification = {
  Type: 'Notification' | 'SubscriptionConfirmation' | 'UnsubscribeConfirmation'
  MessageId: string
  TopicArn: string
  /** The event of SES, as JSON text */
  Message: string
  Timestamp: string
  SignatureVersion: string
  Signature: string
  SigningCertURL: string
}

export type StripeEvent = {
  id: string
  type: string
  livemode: boolean
  data: {
    object: {
      id?: string
    }
  }
}

export type Health = {
  status: 'ok' | 'degraded' | 'unwritable'
  time: string
  environment?: 'sandbox' | 'direct' | 'relay'
  /** Seconds */
  uptime?: number
  /**
   * Bytes. `anonymous`, on Linux: the part of `rss` that the system cannot read from a file again;
   * the rest is mostly the program itself.
   */
  memoryUsage?: Record<string, number>
  /** Size of the database's write-ahead log */
  walBytes?: number
  /** Why the status is `degraded` */
  reasons?: Array<{
    cause: string
    reason: string
  }>
}

export type Checks = {
  /** The worst of all checks */
  status: 'ok' | 'warning' | 'failed'
  startedAt: string
  finishedAt: string
  checks: Array<{
    id: string
    status: 'ok' | 'warning' | 'failed' | 'skipped'
    /** What was seen, or why the check was skipped */
    evidence: string
    /** What to paste or to do */
    fix: string | null
  }>
}
