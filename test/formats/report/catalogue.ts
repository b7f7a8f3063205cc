/**
 * Texts that mail systems, providers and registries document, one per line: the layout of the report
 * (fields only, Exim's prose, or Postfix with the command), the reason, the text.
 */
export const catalogue = `
# The registry of RFC 5248, as a Postfix access table answers
rcpt userunknown: 550 5.1.1 <a@b.test>: Recipient address rejected: Bad destination mailbox address
rcpt hostunknown: 550 5.1.2 <a@b.test>: Recipient address rejected: Bad destination system address
rcpt userunknown: 550 5.1.3 <a@b.test>: Recipient address rejected: Bad destination mailbox address syntax
rcpt filtered: 550 5.1.4 <a@b.test>: Recipient address rejected: Destination mailbox address ambiguous
rcpt hasmoved: 550 5.1.6 <a@b.test>: Recipient address rejected: Destination mailbox has moved, No forwarding address
rcpt rejected: 550 5.1.7 <a@b.test>: Recipient address rejected: Bad sender's mailbox address syntax
rcpt rejected: 550 5.1.8 <a@b.test>: Recipient address rejected: Bad sender's system address
rcpt systemerror: 550 5.1.9 <a@b.test>: Recipient address rejected: Message relayed to non-compliant mailer
rcpt rejected: 556 5.1.10 <a@b.test>: Recipient address rejected: Recipient address has null MX
rcpt filtered: 550 5.2.0 <a@b.test>: Recipient address rejected: Other or undefined mailbox status
rcpt suspended: 550 5.2.1 <a@b.test>: Recipient address rejected: Mailbox disabled, not accepting messages
rcpt mailboxfull: 552 5.2.2 <a@b.test>: Recipient address rejected: Mailbox full
rcpt toobig: 552 5.2.3 <a@b.test>: Recipient address rejected: Message length exceeds administrative limit
rcpt filtered: 550 5.2.4 <a@b.test>: Recipient address rejected: Mailing list expansion problem
rcpt systemerror: 452 4.3.1 <a@b.test>: Recipient address rejected: Mail system full
rcpt systemerror: 552 5.3.1 <a@b.test>: Recipient address rejected: Mail system full
rcpt rejected: 521 5.3.2 <a@b.test>: Recipient address rejected: System not accepting network messages
rcpt systemerror: 554 5.3.3 <a@b.test>: Recipient address rejected: System not capable of selected features
rcpt toobig: 552 5.3.4 <a@b.test>: Recipient address rejected: Message too big for system
rcpt systemerror: 554 5.3.5 <a@b.test>: Recipient address rejected: System incorrectly configured
rcpt networkerror: 554 5.4.0 <a@b.test>: Recipient address rejected: Other or undefined network or routing status
rcpt expired: 451 4.4.1 <a@b.test>: Recipient address rejected: No answer from host
rcpt networkerror: 421 4.4.2 <a@b.test>: Recipient address rejected: Bad connection
rcpt systemerror: 451 4.4.3 <a@b.test>: Recipient address rejected: Directory server failure
rcpt hostunknown: 554 5.4.4 <a@b.test>: Recipient address rejected: Unable to route
rcpt systemerror: 451 4.4.5 <a@b.test>: Recipient address rejected: Mail system congestion
rcpt networkerror: 554 5.4.6 <a@b.test>: Recipient address rejected: Routing loop detected
rcpt expired: 554 5.4.7 <a@b.test>: Recipient address rejected: Delivery time expired
rcpt undetermined: 501 5.5.0 <a@b.test>: Recipient address rejected: Other or undefined protocol status
rcpt systemerror: 500 5.5.1 <a@b.test>: Recipient address rejected: Invalid command
rcpt systemerror: 500 5.5.2 <a@b.test>: Recipient address rejected: Syntax error
rcpt toomanyconn: 552 5.5.3 <a@b.test>: Recipient address rejected: Too many recipients
rcpt systemerror: 501 5.5.4 <a@b.test>: Recipient address rejected: Invalid command arguments
rcpt contenterror: 554 5.6.1 <a@b.test>: Recipient address rejected: Media not supported
rcpt contenterror: 554 5.6.3 <a@b.test>: Recipient address rejected: Conversion required but not supported
rcpt contenterror: 554 5.6.5 <a@b.test>: Recipient address rejected: Conversion failed
rcpt contenterror: 554 5.6.6 <a@b.test>: Recipient address rejected: Message content not available
rcpt contenterror: 550 5.6.7 <a@b.test>: Recipient address rejected: Non-ASCII addresses not permitted for that sender/recipient
rcpt securityerror: 550 5.7.0 <a@b.test>: Recipient address rejected: Other or undefined security status
rcpt securityerror: 550 5.7.1 <a@b.test>: Recipient address rejected: Delivery not authorized, message refused
rcpt securityerror: 550 5.7.2 <a@b.test>: Recipient address rejected: Mailing list expansion prohibited
rcpt securityerror: 554 5.7.3 <a@b.test>: Recipient address rejected: Security conversion required but not possible
rcpt securityerror: 535 5.7.8 <a@b.test>: Recipient address rejected: Authentication credentials invalid
rcpt securityerror: 523 5.7.10 <a@b.test>: Recipient address rejected: Encryption needed
rcpt suspended: 525 5.7.13 <a@b.test>: Recipient address rejected: User Account Disabled
rcpt hasmoved: 550 5.7.17 <a@b.test>: Recipient address rejected: Mailbox owner has changed
rcpt hasmoved: 550 5.7.18 <a@b.test>: Recipient address rejected: Domain owner has changed
rcpt authfailure: 550 5.7.20 <a@b.test>: Recipient address rejected: No passing DKIM signature found
rcpt authfailure: 550 5.7.23 <a@b.test>: Recipient address rejected: SPF validation failed
rcpt blocked: 550 5.7.25 <a@b.test>: Recipient address rejected: Reverse DNS validation failed
rcpt authfailure: 550 5.7.26 <a@b.test>: Recipient address rejected: Multiple authentication checks failed
rcpt rejected: 550 5.7.27 <a@b.test>: Recipient address rejected: Sender address has null MX
rcpt ratelimited: 550 5.7.28 <a@b.test>: Recipient address rejected: Mail flood detected
rcpt authfailure: 550 5.7.29 <a@b.test>: Recipient address rejected: ARC validation failure
rcpt authfailure: 550 5.7.30 <a@b.test>: Recipient address rejected: REQUIRETLS support required
rcpt blocked: 550 5.7.1 <a@b.test>: Recipient address rejected: Blocked
rcpt blocked: 550 5.7.1 <a@b.test>: Recipient address rejected: Bad reputation
rcpt policyviolation: 550 5.7.1 <a@b.test>: Recipient address rejected: Policy violation
rcpt spamdetected: 550 5.7.1 <a@b.test>: Recipient address rejected: Spam detected
rcpt securityerror: 550 5.7.1 <a@b.test>: Recipient address rejected: Rejected
rcpt ratelimited: 451 4.7.1 <a@b.test>: Recipient address rejected: Greylisted
rcpt ratelimited: 450 4.2.1 <a@b.test>: Recipient address rejected: Rate limited
rcpt toomanyconn: 421 4.3.2 <a@b.test>: Recipient address rejected: Too many connections
rcpt userunknown: 550 5.1.1 <a@b.test>: Recipient address rejected: User unknown
rcpt userunknown: 550 5.2.1 <a@b.test>: Recipient address rejected: User unknown
rcpt userunknown: 550 5.0.0 <a@b.test>: Recipient address rejected: User unknown
rcpt userunknown: 550 5.7.1 <a@b.test>: Recipient address rejected: User unknown
rcpt rejected: 550 5.1.10 <a@b.test>: Recipient address rejected: nullMX
rcpt userunknown: 550 5.1.0 <a@b.test>: Recipient address rejected: User unknown
rcpt hostunknown: 550 5.4.4 <a@b.test>: Recipient address rejected: Host not found
rcpt userunknown: 550 5.4.1 <a@b.test>: Recipient address rejected: Access denied.
# Postfix, Exim and Sendmail
fields userunknown: unknown user: "ann"
fields systemerror: mail for reader.test loops back to myself
fields hostunknown: Host or domain name not found. Name service error for name=reader.test type=MX: Host not found
fields hostunknown: Host or domain name not found. Name service error for name=reader.test type=AAAA: Host found but no data record of requested type
fields networkerror: Host or domain name not found. Name service error for name=reader.test type=MX: Host not found, try again
fields rejected: Domain reader.test does not accept mail (nullMX)
fields hostunknown: unable to look up host mx.reader.test: Name or service not known
fields expired: connect to mx.reader.test[192.0.2.7]:25: Connection timed out
fields networkerror: connect to mx.reader.test[192.0.2.7]:25: Connection refused
fields networkerror: connect to mx.reader.test[192.0.2.7]:25: No route to host
fields expired: conversation with mx.reader.test[192.0.2.7] timed out while receiving the initial server greeting
fields networkerror: lost connection with mx.reader.test[192.0.2.7] while receiving the initial server greeting
fields networkerror: lost connection with mx.reader.test[192.0.2.7] while sending end of data -- message may be sent more than once
fields blocked: host mx.reader.test[192.0.2.7] refused to talk to me: 554 5.7.1 <x>: Client host rejected: Access denied
fields systemerror: host mx.reader.test[192.0.2.7] refused to talk to me: 421 4.3.2 Service currently unavailable
fields mailboxfull: can't create user output file. Command output: Quota exceeded
fields mailboxfull: cannot update mailbox /var/mail/ann for user ann. error writing message: Disk quota exceeded
fields mailboxfull: maildir delivery failed: error writing message: Disk quota exceeded
fields mailererror: Command died with status 67: "/usr/bin/procmail". Command output: ann: unknown user
fields toobig: message size 12345678 exceeds size limit 10240000 of server mx.reader.test[192.0.2.7]
fields networkerror: mail forwarding loop for ann@reader.test
fields networkerror: too many hops
fields securityerror: Server certificate not verified
fields securityerror: TLS is required, but was not offered by host mx.reader.test[192.0.2.7]
fields networkerror: Cannot start TLS: handshake failure
fields securityerror: TLS is required, but our TLS engine is unavailable
fields userunknown: bad address syntax
fields systemerror: user lookup error
fields mailererror: temporary failure. Command output: lookup failed
fields systemerror: mail transport unavailable
fields systemerror: alias database unavailable
fields systemerror: unknown mail transport error
fields expired: delivery temporarily suspended: connect to mx.reader.test[192.0.2.7]:25: Connection timed out
fields userunknown: User unknown in local recipient table
fields userunknown: Recipient address rejected: User unknown in virtual alias table
fields userunknown: Recipient address rejected: unverified address: unknown user: "ann"
rcpt systemerror: 450 4.1.1 <ann@reader.test>: Recipient address rejected: unverified address: Address verification in progress
rcpt userunknown: 550 5.1.1 <ann@reader.test>: Recipient address rejected: User unknown in relay recipient table
rcpt policyviolation: 554 5.7.1 <ann@reader.test>: Relay access denied
rcpt securityerror: 554 5.7.1 <ann@reader.test>: Recipient address rejected: Access denied
rcpt policyviolation: 454 4.7.1 <ann@reader.test>: Relay access denied
rcpt hostunknown: 550 5.1.2 <ann@reader.test>: Recipient address rejected: Domain not found
rcpt hostunknown: 450 4.1.2 <ann@reader.test>: Recipient address rejected: Domain not found
rcpt systemerror: 504 5.5.2 <ann>: Recipient address rejected: need fully-qualified address
rcpt rejected: 553 5.1.8 <news@sender.test>: Sender address rejected: Domain not found
rcpt rejected: 550 5.1.0 <news@sender.test>: Sender address rejected: User unknown in virtual mailbox table
rcpt rejected: 450 4.1.8 <news@sender.test>: Sender address rejected: Domain not found
rcpt blocked: 554 5.7.1 Service unavailable; Client host [192.0.2.9] blocked using bl.spamcop.net; Blocked - see
rcpt blocked: 504 5.5.2 <localhost>: Helo command rejected: need fully-qualified hostname
rcpt blocked: 450 4.7.25 Client host rejected: cannot find your hostname, [192.0.2.9]
message spamdetected: 550 5.7.1 Blocked by SpamAssassin
message toobig: 552 5.3.4 Error: message file too big
message policyviolation: 550 5.7.0 Local Policy Violation
message systemerror: 451 4.3.0 Error: queue file write error
data filtered: 554 5.5.1 Error: no valid recipients
mail systemerror: 452 4.3.1 Insufficient system storage
mail toobig: 552 5.3.4 Message size exceeds fixed limit
mail rejected: 501 5.1.7 Bad sender address syntax
fields ratelimited: 450 4.7.1 <ann@reader.test>: Recipient address rejected: Greylisted
exim userunknown: 550 5.1.1 The email account that you tried to reach does not exist.
exim hostunknown: Unrouteable address
exim hostunknown: all relevant MX records point to non-existent hosts
exim hostunknown: all host address lookups failed permanently
exim systemerror: lowest numbered MX record points to local host
exim networkerror: host lookup did not complete
exim expired: retry timeout exceeded
exim expired: retry time not reached for any host after a long failure period
exim virusdetected: SMTP error from remote mail server after end of data: 550 This message contains a virus
exim mailboxfull: Mailbox quota exceeded
exim mailboxfull: mailbox is full (quota exceeded)
exim mailboxfull: error: quota exceeded
exim systemerror: delivery to pipe forbidden
exim systemerror: local delivery failed
exim networkerror: Too many "Received" headers - suspected mail loop
exim rejected: an MX or SRV record indicated no SMTP service
exim undetermined: an undefined error occurred
exim toomanyconn: Domain reader.test has exceeded the max emails per hour (100/100 (100%)) allowed. Message discarded.
exim mailboxfull: This mailbox has exceeded its quota.
exim suspended: User account suspended
exim userunknown: LMTP error from remote mail server after RCPT TO: 550 5.1.1 User doesn't exist: ann@reader.test
exim rejected: Sender verify failed
exim systemerror: remote host address is the local host
exim userunknown: user not found
exim userunknown: unknown local-part "ann" in domain "reader.test"
exim userunknown: mail server at reader.test: No Such User Here
exim expired: SMTP timeout while connected to mx.reader.test [192.0.2.7] after initial connection
exim networkerror: Connection refused
exim expired: H=mx.reader.test [192.0.2.7]: Connection timed out
exim rejected: 550-Verification failed for <news@sender.test> 550-No Such User Here 550 Sender verify failed
exim rejected: 550-Callback setup failed while verifying <news@sender.test>
exim policyviolation: 550 relay not permitted
exim blocked: 550 Rejected because 192.0.2.9 is in a black list at zen.spamhaus.org
exim rejected: 550 Administrative prohibition
exim systemerror: 451 Temporary local problem - please try later
exim securityerror: 550 authentication required
exim spamdetected: 550 High spam score
exim userunknown: 550 Unknown user
exim userunknown: 550 mailbox for ann@reader.test unavailable
exim securityerror: 550 Please turn on SMTP Authentication in your mail client.
exim blocked: 550-Access denied - Invalid HELO name (See RFC2821 4.1.1.1)
fields userunknown: 550 5.1.1 <ann@reader.test>... User unknown
fields hostunknown: 550 5.1.2 <ann@reader.test>... Host unknown (Name server: reader.test: host not found)
fields expired: Deferred: Connection timed out with mx.reader.test.
fields blocked: Deferred: Connection refused by mx.reader.test.
fields networkerror: Deferred: Name server: mx.reader.test: host name lookup failure
fields systemerror: 553 5.3.5 system config error
fields networkerror: 554 5.4.6 Too many hops 26 (25 max): from x via y, to z
fields systemerror: 553 5.3.5 mx.reader.test. config error: mail loops back to me (MX problem?)
fields securityerror: 550 5.7.1 Access denied
fields userunknown: 553 5.0.0 <ann@reader.test>... no such user
fields systemerror: 554 5.0.0 Service unavailable
fields policyviolation: 550 5.7.1 <ann@reader.test>... Relaying denied
fields blocked: 550 5.7.1 Relaying denied. IP name lookup failed [192.0.2.9]
fields rejected: 451 4.1.8 Domain of sender address news@sender.test does not resolve
fields systemerror: 452 4.4.5 Insufficient disk space; try again later
fields toomanyconn: 421 4.3.2 Connection rate limit exceeded.
fields ratelimited: 451 4.7.1 Greylisting in action, please come back in 00:05:00
fields userunknown: 550 5.1.1 ann... User unknown
fields hasmoved: 551 5.7.1 User not local; please try <ann@elsewhere.test>
fields suspended: 550 5.2.1 <ann@reader.test>... Mailbox disabled for this recipient
fields blocked: 550 5.3.0 <ann@reader.test>... Rejected: 192.0.2.9 listed at dnsbl.test
fields mailboxfull: 552 5.2.2 <ann@reader.test>... Mailbox full
fields userunknown: 501 5.1.3 <ann@reader.test>... Syntax error in address
# Providers
fields userunknown: 550-5.1.1 The email account that you tried to reach does not exist. Please try double-checking the recipient's email address for typos or unnecessary spaces. Learn more at https://support.google.com/mail/?p=NoSuchUser - gsmtp
fields suspended: 550-5.2.1 The email account that you tried to reach is disabled.
fields suspended: 550-5.2.1 The email account that you tried to reach is inactive.
fields mailboxfull: 452-4.2.2 The recipient's inbox is out of storage space. Please direct the recipient to https://support.google.com/mail/?p=OverQuotaTemp
fields mailboxfull: 552-5.2.2 The email account that you tried to reach is over quota and inactive.
fields ratelimited: 450-4.2.1 The user you are trying to contact is receiving mail too quickly. Please resend your message at a later time.
fields ratelimited: 450-4.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages from being delivered.
fields blocked: 421-4.7.0 [192.0.2.9      15] Our system has detected that this message is suspicious due to the very low reputation of the sending IP address.
fields spamdetected: 550-5.7.1 [192.0.2.9      12] Our system has detected that this message is likely unsolicited mail. To reduce the amount of spam sent to Gmail, this message has been blocked.
fields blocked: 550-5.7.1 [192.0.2.9] The IP you're using to send mail is not authorized to send email directly to our servers. Please use the SMTP relay at your service provider instead.
fields authfailure: 550-5.7.26 This mail has been blocked because the sender is unauthenticated. Gmail requires all senders to authenticate with either SPF or DKIM.
fields policyviolation: 552-5.7.0 This message was blocked because its content presents a potential security issue. Please visit
fields toobig: 552-5.2.3 Your message exceeded Google's message size limits.
fields ratelimited: 421-4.7.28 Gmail has detected an unusual rate of unsolicited mail originating from your SPF domain [sender.test      35].
fields ratelimited: 550-5.4.5 Daily SMTP relay sending limit exceeded for user.
fields ratelimited: 550 5.4.5 Daily user sending quota exceeded.
fields policyviolation: 550-5.7.1 The user or domain that you are sending to (or from) has a policy that prohibited the mail that you sent.
fields contenterror: 554 5.6.0 Mail message is malformed. Not accepted
fields toomanyconn: 452 4.5.3 Domain policy size per transaction exceeded, please try this recipient in a separate transaction.
fields mailboxfull: 550 5.7.1 Email quota exceeded.
fields systemerror: 451-4.3.0 Multiple destination domains per transaction is unsupported. Please try again.
fields authfailure: 550-5.7.24 The SPF record of the sending domain has one or more suspicious entries.
fields spamdetected: 550 5.7.350 Remote server returned message detected as spam -> 554 spam
fields userunknown: 550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient ann@reader.test not found by SMTP address lookup
fields userunknown: 550 5.4.1 Recipient address rejected: Access denied. AS(201806281) [X.prod.protection.outlook.com]
fields userunknown: 550 5.1.1 RESOLVER.ADR.ExRecipNotFound; not found
fields userunknown: 550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302).
fields securityerror: 550 5.7.1 RESOLVER.RST.AuthRequired; authentication required
fields securityerror: 550 5.7.1 RESOLVER.RST.RestrictedToRecipientsPermission; not authorized
fields rejected: 550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; authentication required
fields rejected: 550 5.7.124 RESOLVER.RST.SenderNotInAllowedSendersList; sender not in allowed-senders list
fields blocked: 550 5.7.1 Service unavailable, Client host [192.0.2.9] blocked using Spamhaus. To request removal from this list see https://www.spamhaus.org/query/ip/192.0.2.9 (AS16012609)
fields blocked: 550 5.7.511 Access denied, banned sender[192.0.2.9]. To request removal from this list please forward this message to delist@microsoft.com.
fields ratelimited: 550 5.7.708 Service unavailable. Access denied, traffic not accepted from this IP.
fields rejected: 550 5.7.501 Access denied, spam abuse detected.
fields authfailure: 550 5.7.23 The message was rejected because of Sender Policy Framework violation -> 550 5.7.1 no
fields networkerror: 550 5.4.14 Hop count exceeded - possible mail loop ATTR34
fields networkerror: 554 5.4.14 Hop count exceeded - possible mail loop
fields policyviolation: 550 5.7.64 TenantAttribution; Relay Access Denied
fields securityerror: 550 5.7.57 SMTP; Client was not authenticated to send anonymous mail during MAIL FROM
fields rejected: 550 5.7.60 SMTP; Client does not have permissions to send as this sender
fields mailboxfull: 554 5.2.2 mailbox full; STOREDRV.Deliver.Exception:QuotaExceededException.MapiExceptionShutoffQuotaExceeded; Failed to process message due to a permanent exception
fields filtered: 554 5.2.0 STOREDRV.Deliver; delivery result banner
fields filtered: 550 5.2.0 RESOLVER.ADR.BadPrimary; recipient primary SMTP address is missing or invalid
fields contenterror: 554 5.6.0 STOREDRV.Submit.Exception:PropertyTooBigException
fields toobig: 550 5.3.4 ROUTING.SizeLimit; message size exceeds fixed maximum size for route
fields toobig: 550 5.2.3 RESOLVER.RST.SendSizeLimit.Sender; message too large for this sender
fields filtered: 550 5.1.0 RESOLVER.ADR.Ambiguous; ambiguous address
fields networkerror: 550 5.4.6 ROUTING.LoopDetected; loop detected
fields hostunknown: 550 5.4.4 ROUTING.NoConnectorForAddressType; unable to route for address type
fields policyviolation: 550 5.7.1 TRANSPORT.RULES.RejectMessage; the message was rejected by organization policy
fields ratelimited: 550 5.2.122 RESOLVER.RST.RecipientRateLimit; The recipient has exceeded their limit for the number of messages they can receive per hour.
fields ratelimited: 550 5.1.90 Your message can't be sent because you've reached your daily limit for message recipients
fields rejected: 550 5.1.8 Access denied, bad outbound sender
fields toomanyconn: 432 4.3.2 STOREDRV.ClientSubmit; sender thread limit exceeded
fields undetermined: 550 5.3.190 Journal messages are not accepted
fields contenterror: 550 5.6.11 Invalid characters; SMTPSEND.BareLinefeedsAreIllegal
fields authfailure: 550 5.7.509 Access denied, sending domain sender.test does not pass DMARC verification and has a DMARC policy of reject.
fields hostunknown: 550 5.4.310 DNS domain reader.test does not exist [Message=InfoDomainNonexistent]
fields userunknown: 550 5.1.351 Remote server returned unknown recipient or mailbox unavailable -> 550 Invalid Recipient
fields undetermined: 550 5.1.20 Multiple From addresses without Sender
fields hasmoved: 550 5.1.6 Recipient no longer on server
fields undetermined: 550 5.0.350 Remote server returned an error -> 550 Message rejected
fields policyviolation: 550 5.7.1 550 5.7.1 Unable to relay (in reply to RCPT TO command)
fields blocked: 550 5.7.1 Unfortunately, messages from [192.0.2.9] weren't sent. Please contact your Internet service provider since part of their network is on our block list (S3150).
fields filtered: 550 5.2.1 Mailbox cannot be accessed; STOREDRV.Deliver
fields userunknown: 554 delivery error: dd This user doesn't have a yahoo.com account (ann@yahoo.com) [0] - mta
fields suspended: 554 30 Sorry, your message to ann@yahoo.com cannot be delivered. This mailbox is disabled (554.30).
fields userunknown: 552 1 Requested mail action aborted, mailbox not found
fields userunknown: 550 5.1.1 <ann@aol.com>: Recipient address rejected: aol.com
fields blocked: 421 4.7.0 [TSS04] Messages from 192.0.2.9 temporarily deferred due to unexpected volume or user complaints
fields rejected: 421 4.7.1 [TS03] All messages from 192.0.2.9 will be permanently deferred; Retrying will NOT succeed.
fields blocked: 553 5.7.1 [BL21] Connections will not be accepted from 192.0.2.9, because the ip is in Spamhaus's list
fields policyviolation: 554 5.7.9 Message not accepted for policy reasons.
fields systemerror: 451 Resources temporarily not available - Please try again later [#4.16.5].
fields rejected: 553 5.7.2 [TSS11] All messages from 192.0.2.9 will be permanently deferred
fields policyviolation: 554 Message not allowed - [PH01] Email not accepted for policy reasons.
fields filtered: 521 5.2.1 : AOL will not accept delivery of this message.
fields userunknown: 550 5.1.1 MAILBOX NOT FOUND
fields blocked: 421 4.2.1 : (DYN:T1) http://postmaster.info.aol.com/errors/421dynt1.html
fields securityerror: 554 5.7.1 : (HVU:B2) http://postmaster.info.aol.com/errors/554hvub2.html
fields suspended: 550 5.1.1 <ann@icloud.com>: inactive email address
fields userunknown: 550 5.1.1 unknown or illegal alias: ann@me.com
fields mailboxfull: 552 5.2.2 <ann@icloud.com>: user is over quota
fields hasmoved: 550 5.1.6 recipient no longer on server: ann@me.com
fields policyviolation: 554 5.7.1 [CS01] Message rejected due to local policy. Please visit https://support.apple.com/en-us/HT204137
fields blocked: 550 5.7.0 Blocked - see https://ipcheck.proofpoint.com/?ip=192.0.2.9
fields userunknown: 550 Requested action not taken: mailbox unavailable
fields policyviolation: 554-Transaction failed 554-Reject due to policy restrictions. 554 For explanation visit http://postmaster.gmx.com/en/error-messages?ip=192.0.2.9&c=hi
fields toomanyconn: 421-gmx.net (mxgmx) Nemesis ESMTP Service not available 421-Service unavailable 421 Too many connections
fields blocked: 554-No SMTP service 554-Bad DNS PTR resource record.
fields authfailure: 550-Requested action not taken: mailbox unavailable 550-Reject due to SPF policy.
fields userunknown: 550 mailbox unavailable 550 For explanation visit http://postmaster.web.de
fields mailboxfull: 552-Requested mail action aborted: exceeded storage allocation 552-Quota exceeded.
fields blocked: 451-Requested action aborted 451 Mail server temporarily blacklisted
fields userunknown: 550 5.1.1 Adresse d au moins un destinataire invalide. Invalid recipient. OFR_416 [416]
fields mailboxfull: 552 5.1.1 Boite du destinataire pleine. Recipient overquota. OFR_417 [417]
fields spamdetected: 550 5.2.0 Mail rejete. Mail rejected. ofr_506 [506]
fields blocked: 421 4.0.0 mwinf Service refuse. OFR_103
fields userunknown: 550 5.1.1 <ann@sfr.fr>: User unknown in virtual mailbox table
fields spamdetected: 550 spam detected
fields suspended: 550 5.5.0 Boite du destinataire archivee. Archived recipient. OFR_418
fields rejected: 501 5.1.0 Emetteur invalide. Invalid Sender. OFR004_415
fields rejected: 550 5.7.1 Mail from not owned by user
fields authfailure: 550 5.5.0 SPF: sender.test is not allowed to send mail. LPN004_401
fields userunknown: 550 Message was not accepted -- invalid mailbox. Local mailbox ann@mail.ru is unavailable: user not found
fields suspended: 550 Local mailbox ann@mail.ru is unavailable: user is terminated
fields userunknown: 550 user not found, ignored
fields filtered: 550 5.7.1 No such user!
fields spamdetected: 550 Spam message rejected. Please visit http://help.mail.ru/notspam-support
fields blocked: 550 Access from ip address 192.0.2.9 blocked. Visit http://help.mail.ru/developers/errors
fields systemerror: 451 4.7.1 Sorry, the service is currently unavailable. Please come back later.
fields spamdetected: 554 5.7.1 [1] Message rejected under suspicion of SPAM; https://ya.cc/1IrBc
fields policyviolation: 550 5.7.1 Policy rejection on the target address
fields ratelimited: 452 4.5.3 Recipient has too many messages today
fields mailboxfull: 552 5.2.2 User is over quota
fields userunknown: 550 5.1.1 No such user
fields suspended: 550 Mailbox is frozen.
fields userunknown: 550 5.7.1 Bad address mailbox syntax
fields userunknown: 550 5.1.1 Not our Customer
fields blocked: 554 resimta.comcast.net ESMTP server not available
fields ratelimited: 550 5.2.0 192.0.2.9 Throttled - RL000010
fields blocked: 554 PTR lookup failure. PT000002
fields ratelimited: 421 4.1.0 192.0.2.9 Throttled
fields blocked: 550 5.7.1 Client host blocked - BL000010
fields userunknown: 550 5.1.0 <ann@cox.net> recipient rejected
fields authfailure: 552 5.2.0 sender rejected AUP#CXSNDR
fields blocked: 553 5.3.0 flpd ann@att.net - DNSBL:ATTRBL 521< 192.0.2.9 >_is_blocked. For information forward to abuse_rbl@abuse-att.net
fields userunknown: 550 5.1.1 ann@bellsouth.net, mailbox not found
fields userunknown: 550 ann@att.net. Invalid recipient
# Nobody there, switched off, full: of many systems and languages
fields userunknown: 550 <ann@reader.test> No such user here
fields userunknown: 550 ann@reader.test is not a valid mailbox
fields userunknown: 550 There is no such user ann
fields userunknown: 550 No such recipient here
fields userunknown: 550 <ann@reader.test>, Recipient unknown
fields userunknown: 550 5.1.1 User does not exist - psmtp
fields userunknown: 550 Invalid recipient ann@reader.test (Mode: normal)
fields userunknown: 550 5.1.1 Recipient <ann@reader.test> does not exist in our directory
fields userunknown: 550 unknown or non-existent user
fields userunknown: 550 ann... we do not know this user
fields userunknown: 550 Sorry, no mailbox here by that name. (#5.7.17)
fields policyviolation: 550 5.1.1 sorry, that domain isn't in my list
fields userunknown: 511 sorry, no mailbox here by that name (#5.1.1 - chkuser)
fields userunknown: 550 Cuenta no existe
fields userunknown: 550 El usuario no existe
fields userunknown: 550 Usuario inexistente
fields userunknown: 550 5.1.1 Destinatario no encontrado
fields userunknown: 550 Utilisateur inconnu
fields userunknown: 550 L'adresse e-mail n'existe pas
fields userunknown: 550 Adresse inconnue
fields userunknown: 550 Der Empfänger ist unbekannt
fields userunknown: 550 Diese Adresse existiert nicht
fields userunknown: 550 Kein solcher Benutzer
fields userunknown: 550 Mailbox existiert nicht
fields userunknown: 550 Utente sconosciuto
fields userunknown: 550 Casella inesistente
fields userunknown: 550 Usuário não encontrado
fields userunknown: 550 Caixa postal inexistente
fields userunknown: 550 Destinatário inexistente
fields userunknown: 550 Onbekende gebruiker
fields userunknown: 550 Användaren finns inte
fields userunknown: 550 Okänd mottagare
fields userunknown: 550 Ukendt bruger
fields userunknown: 550 Nieznany użytkownik
fields userunknown: 550 Użytkownik nie istnieje
fields userunknown: 550 Uživatel neexistuje
fields userunknown: 550 Нет такого пользователя
fields userunknown: 550 Пользователь не существует
fields userunknown: 550 Несуществующий адрес
fields userunknown: 550 Kullanıcı bulunamadı
fields userunknown: 550 ユーザーが見つかりません
fields userunknown: 550 宛先が存在しません
fields userunknown: 550 用户不存在
fields userunknown: 550 收件人不存在
fields userunknown: 550 邮箱不存在
fields userunknown: 550 존재하지 않는 사용자
fields userunknown: 550 MI:IRR: mailbox not found
fields userunknown: 550 User not found: ann@reader.test
fields userunknown: 550 Mailbox not found! http://service.mail.qq.com
fields userunknown: 550 The recipient may contain a non-existent account, please check the recipient address.
fields userunknown: 550 Invalid User:ann@163.com
fields undetermined: 550 RP:RDN http://mail.163.com/help
fields userunknown: 553 sorry, your envelope recipient is in my badrcptto list (#5.7.1)
fields userunknown: 550 5.1.1 Addressee unknown, relay=[192.0.2.9]
fields userunknown: 550 #5.1.0 Address rejected.
fields userunknown: 550 5.1.0 Address rejected ann@reader.test
fields userunknown: 550 #5.1.1 bad address ann@reader.test
fields userunknown: 550 Rejected: Unknown recipient
fields userunknown: 550 5.1.1 <ann@reader.test>: Email address could not be found, or was misspelled (G8)
fields userunknown: 550 5.1.1 RCPT TO: Address unknown
fields userunknown: 550 Unknown local part ann in <ann@reader.test>
fields userunknown: 550 5.1.1 Mailbox "ann" does not exist
fields userunknown: 550 Account does not exist
fields userunknown: 550 no such account
fields userunknown: 550 no mail box available for this user
fields userunknown: 550 5.7.1 <ann@reader.test>... user not listed
fields userunknown: 550 unknown address error
fields userunknown: 550 Recipient unknown or not accepted
fields userunknown: 550 5.1.1 This account does not exist (G4)
fields userunknown: 550 ann is not known here
fields undetermined: 550 ann unknown
fields userunknown: 550 5.1.1 ... unknown
fields userunknown: 550 Not a valid recipient
fields userunknown: 550 Bad recipient
fields userunknown: 550 The address you sent your message to wasn't found
fields userunknown: 550 Your message wasn't delivered to ann@reader.test because the address couldn't be found, or is unable to receive mail.
fields userunknown: 550 User ann (ann@reader.test) not listed in Domino Directory
fields userunknown: 550 User ann (ann@reader.test) not listed in public Name & Address Book
fields userunknown: 550 User not listed in Domino Directory
fields userunknown: 550 Recipient not in address list
fields userunknown: 550 5.0.0 ann@reader.test... Mail for unknown user
fields userunknown: The e-mail account does not exist at the organization this message was sent to.
fields userunknown: The recipient's e-mail address was not found in the recipient's e-mail system.
fields userunknown: The email address you entered couldn't be found.
fields hasmoved: The e-mail address could not be found. Perhaps the recipient moved to a different e-mail organization, or there was a mistake in the address.
fields userunknown: No such mailbox
fields userunknown: This is a permanent error; recipient address unknown
fields userunknown: Addressee unknown
fields userunknown: User account is unavailable
fields undetermined: Mail for this user is not accepted
fields hostunknown: Illegal host/domain name found
fields hostunknown: unknown domain
fields hostunknown: Domain does not exist
fields hostunknown: no such host
fields hostunknown: Bad host/domain
fields hostunknown: DNS Error: 192.0.2.1 DNS type 'mx' lookup of reader.test responded with code NXDOMAIN
fields networkerror: DNS Error: DNS type 'mx' lookup of reader.test responded with code SERVFAIL
fields hostunknown: DNS Error: Domain name not found
fields rejected: [internal] no MX for domain
fields hostunknown: unrouteable domain
fields hostunknown: Host not found
fields hostunknown: Hôte inconnu
fields hostunknown: Domaine inconnu
fields networkerror: no route to host
fields suspended: 550 5.2.1 Account disabled
fields suspended: 550 This account is not allowed to receive mail
fields suspended: 550 The account is disabled
fields suspended: 550 user mailbox is inactive
fields suspended: 550 Mailbox is inactive
fields suspended: 550 account expired
fields suspended: 550 5.7.1 User suspended
fields filtered: 554 5.2.1 ann disabled
fields suspended: 550 Mailbox unavailable or access denied
fields suspended: 550 Mailbox for ann@reader.test is disabled
fields suspended: 550 This user has been deactivated
fields suspended: 550 User is locked
fields suspended: 550 Account has been terminated
fields suspended: 550 The mailbox has been closed
fields suspended: 550 Dieses Postfach ist gesperrt
fields suspended: 550 Ce compte est désactivé
fields suspended: 550 Cuenta deshabilitada
fields suspended: 550 Conta suspensa
fields suspended: 550 Account sospeso
fields suspended: 550 Konto zostało zablokowane
fields suspended: 550 Учетная запись заблокирована
fields suspended: 550 该账号已被禁用
fields suspended: 550 このアカウントは停止されています
fields blocked: 550 the user has been blocked by the admin
fields mailboxfull: 452 4.2.2 Mailbox full
fields mailboxfull: 550 User has exceeded quota, bouncing mail
fields mailboxfull: 522 mailbox full
fields mailboxfull: 550 Mailbox over quota
fields mailboxfull: 554 mailbox is full; try again later
fields mailboxfull: 552 Mail box full
fields mailboxfull: 450 4.2.2 ann: mailbox is full
fields mailboxfull: 550 5.2.2 STOREDRV.Deliver: mailbox full
fields mailboxfull: 550 The user's disk quota is exceeded
fields mailboxfull: 550 Benutzer hat zu viele Mails auf dem Server
fields mailboxfull: 550 Das Postfach ist voll
fields mailboxfull: 550 Boîte aux lettres pleine
fields mailboxfull: 550 La boîte de réception est pleine
fields mailboxfull: 550 Buzón lleno
fields mailboxfull: 550 El buzón del destinatario está lleno
fields mailboxfull: 550 Caixa postal cheia
fields mailboxfull: 550 A caixa do destinatário está cheia
fields mailboxfull: 550 Casella piena
fields mailboxfull: 550 La casella del destinatario è piena
fields mailboxfull: 550 Postvak vol
fields mailboxfull: 550 Brevlådan är full
fields mailboxfull: 550 Skrzynka pełna
fields mailboxfull: 550 Ящик переполнен
fields mailboxfull: 550 Почтовый ящик переполнен
fields mailboxfull: 550 邮箱空间已满
fields mailboxfull: 550 メールボックスがいっぱいです
fields mailboxfull: 550 메일함이 가득 찼습니다
fields mailboxfull: 550 Posta kutusu dolu
# Filters and appliances
fields hostunknown: 5.1.2 - Bad destination host 'DNS Hard Error looking up reader.test (MX): NXDomain'
fields userunknown: 5.1.0 - Unknown address error 550-'5.1.1 <ann@reader.test>: Recipient address rejected: User unknown' (delivery attempts: 0)
fields expired: 5.4.7 - Delivery expired (message too old) 'timeout' (delivery attempts: 8)
fields systemerror: 5.3.0 - Other mail system problem 554-'Message refused' (delivery attempts: 0)
fields expired: 4.4.0 - Other network problem '[Errno 110] Connection timed out' (delivery attempts: 3)
rcpt userunknown: 550 5.1.1 User doesn't exist: ann@reader.test
rcpt userunknown: 550-Mailbox unknown.  Either there is no mailbox associated with this 550-name or you do not have authorization to see it. 550 5.1.1 User unknown
message mailboxfull: 554 5.2.2 <ann@reader.test> Quota exceeded (mailbox for user is full)
message virusdetected: 554 5.7.0 Reject, id=12345-01 - INFECTED: Eicar-Test-Signature
message spamdetected: 554 5.7.0 Bounce, id=12345-01 - SPAM
fields blocked: 550 5.7.1 REJECTED (ERS) Mail from 192.0.2.9 is blocked
message spamdetected: 550 5.7.1 This email has been rejected. The email message was detected as spam.
message spamdetected: 554 5.7.1 Sorry, message looks like SPAM to me
fields userunknown: 550 Invalid Recipient - https://community.mimecast.com/docs/DOC-1369#550 [abc.uk123]
fields rejected: 550 Administrative prohibition - envelope blocked - https://community.mimecast.com/docs/DOC-1369#550
fields rejected: 550 Rejected by header based manually Blocked Senders - block for manual block
fields policyviolation: 550 Rejected by header based Anti-Spoofing policy: news@sender.test
fields systemerror: 451 Internal resources are temporarily unavailable
fields policyviolation: 554 Email rejected due to security policies
fields blocked: 550 csi.mimecast.org Poor Reputation Sender.
fields rejected: 550 Envelope blocked - User Entry
fields toomanyconn: 550 Exceeding outbound thread limit
fields userunknown: 550 #5.1.0 Address rejected.
fields blocked: 554-mx.reader.test 554 Your access to this mail system has been rejected due to the sending MTA's poor reputation. If you believe that this failure is in error, please contact the intended recipient via alternate means.
fields toomanyconn: 452 Too many recipients received this hour
fields toomanyconn: 421 #4.4.5 Too many connections from your host.
fields toomanyconn: 550 Too many invalid recipients
fields undetermined: 421 Exceeded bad SMTP command limit, disconnecting.
fields spamdetected: 550 A URL in this email (x.test) is listed on https://spamrl.com/. Please resolve and retry
fields spamdetected: 550 High probability of spam
fields spamdetected: 550 The content of this message looked like spam.
fields blocked: 501 Connection rejected by policy [7.7] 12302
fields userunknown: 550 Invalid recipient <ann@reader.test> (#5.1.1)
fields spamdetected: 553 Message filtered. Refer to the Troubleshooting page at http://www.symanteccloud.com/troubleshooting for more information. (#5.7.1)
fields userunknown: 550 No such user - psmtp
fields systemerror: 451 User's mailbox is temporarily unavailable - psmtp
fields userunknown: 550 5.1.1 <ann@reader.test> Recipient not found.  <http://x.co/irbounce>
fields securityerror: 535 Authentication not allowed on IBSMTP Servers. IB401
fields userunknown: 550 5.1.1 <ann@reader.test>: Recipient address rejected: Address does not exist
fields blocked: 421 4.3.2 Your ip blocked from this server
fields toomanyconn: 550 Domain frequency limited [x].
fields spamdetected: 554 Reject by behaviour spam at RcptTo State(Connection IP address:192.0.2.9)
fields spamdetected: 554 DT:SPM 163 smtp1 http://mail.163.com/help/help_spam_16.htm
fields rejected: 553 Requested action not taken: NULL sender is not allowed
fields suspended: 550 User suspended
fields blocked: 550 Connection denied
fields userunknown: #< #5.1.1 smtp;550 5.1.1 <ann@reader.test>... User unknown> #SMTP# x
fields securityerror: 550 5.7.1 Message rejected. See https://amazonaws
fields rejected: 554 Message rejected: Email address is not verified.
fields authfailure: 550 5.7.1 <ann@reader.test>: Recipient address rejected: SPF fail - not authorized
fields authfailure: 550 5.7.1 <ann@reader.test>: Recipient address rejected: Please see http://www.openspf.org/Why?id=x
fields spamdetected: 550 5.7.1 <ann@reader.test>: Recipient address rejected: Mail appeared to be SPAM or forged. Ask your Mail/DNS-Administrator to correct HELO and DNS MX settings
fields blocked: 550 5.7.1 <ann@reader.test>: Recipient address rejected: Policy Rejection- Abuse. Go away.
fields blocked: 550 5.7.1 <ann@reader.test>: Recipient address rejected: Your message was rejected because 192.0.2.9 is blacklisted
fields filtered: 550 5.7.1 <ann@reader.test>: Recipient address rejected: Message rejected due to: domain owner discourages use of this host
fields ratelimited: 451 4.7.1 <ann@reader.test>: Recipient address rejected: Please wait 300 seconds
fields ratelimited: 450 4.2.0 <ann@reader.test>: Recipient address rejected: Greylisted
fields filtered: 550 5.1.1 Rejected by user
fields userunknown: 550 5.1.1 Sorry, no valid recipients
fields undetermined: 550 permanent failure for one or more recipients (ann@reader.test:blocked)
fields userunknown: 550 permanent failure for one or more recipients (ann@reader.test:550 5.1.1 User unknown)
fields securityerror: 554 5.7.1 Message cannot be accepted, rules reject
fields rejected: 550 Your domain is not allowed to send
fields rejected: 550 5.7.1 Sender domain not authorised
fields authfailure: 550 5.7.1 Sender ID (PRA) Not Permitted
fields rejected: 550 the sender does not have a valid MX
fields rejected: 550 The recipient does not accept mail from news@sender.test
fields undetermined: 550 Recipient does not want mail from you
fields filtered: 550 5.7.1 recipient has blocked you
fields rejected: 550 5.7.1 <news@sender.test>: Sender address rejected: not logged in
fields rejected: 553 5.7.1 <news@sender.test>: Sender address rejected: not owned by user x
fields blocked: 554 5.7.1 <x[192.0.2.9]>: Client host rejected: Access denied
fields blocked: 554 5.7.1 Rejected 192.0.2.9 found in dnsbl.sorbs.net
fields hostunknown: 550 5.7.1 <ann@reader.test>: Recipient address rejected: Domain not found in list
fields systemerror: 503 5.5.1 Error: need MAIL command
fields systemerror: 503 Valid RCPT command must precede DATA
fields systemerror: 500 5.3.3 Unrecognized command
fields systemerror: 502 5.5.2 Error: command not recognized
fields hostunknown: 501 5.5.4 Invalid domain name
fields userunknown: 501 5.1.3 Invalid address
fields systemerror: 451 4.3.5 Server configuration problem
fields systemerror: 451 4.3.0 Temporary lookup failure
fields systemerror: 454 4.7.0 TLS not available due to local problem
fields expired: 421 4.4.2 Connection timed out
fields expired: 421 4.4.1 Connection timed out
fields expired: 451 4.4.2 Timeout waiting for data from client.
fields systemerror: 550 5.0.0 Service unavailable; try again
fields rejected: 554 5.3.2 STOREDRV.Deliver; delivery not possible
fields rejected: 550 5.3.2 STOREDRV.Submit; out of resources
fields undetermined: 471 x
fields contenterror: 550 Message headers fail syntax check
fields undetermined: 550 Message contains NUL characters
fields contenterror: 550 "From" header is missing
fields contenterror: 550 Your message does not conform to RFC 2822 standard
fields contenterror: 554 5.6.0 Invalid MIME Content
fields contenterror: 550 5.7.7 Email not accepted because RFC 5322 'From' is missing
fields contenterror: 550 Message is missing a Date header
fields toobig: 554 5.2.0 Message too large
fields toobig: 552 Message size exceeds maximum value
fields toobig: 523 the message size is bigger than the recipient's limit
fields toobig: 550 Message exceeds local size limit.
fields policyviolation: 554 Attachment rejected: .exe not allowed
# Words on the sender, on us, or on nothing, that look like words on a mailbox
fields systemerror: 550 5.4.4 SMTPSEND.DNS.MxLoopback; DNS records for this domain are configured in a loop
fields userunknown: 550 5.1.1 Not our Customer
fields hasmoved: 551 5.7.1 not our customer
rcpt rejected: 550 5.7.1 The recipient's server does not accept mail from your address
rcpt rejected: 550 Your address is not known to us as a sender
rcpt rejected: 550 Unknown sender
rcpt rejected: 550 Sender unknown
rcpt rejected: 550 sender mailbox does not exist
rcpt rejected: 550 The sender's mailbox is unknown
rcpt userunknown: 550 Could not verify your e-mail address: no such user
rcpt rejected: 550 Cannot verify sender: user unknown
rcpt blocked: 550 We do not accept mail for unknown users from dynamic hosts
rcpt blocked: 550 Your host is unknown
rcpt blocked: 550 Host not found for your IP, reverse lookup failed
rcpt blocked: 550 Your hostname does not exist
rcpt blocked: 550 Client host name not found
rcpt blocked: 550 HELO host not found
rcpt blocked: 450 4.7.1 Helo command rejected: Host not found
rcpt rejected: 550 5.7.1 Sender domain does not exist
rcpt rejected: 550 Sender domain not found
rcpt rejected: 550 unknown sender domain
rcpt rejected: 550 domain of sender does not resolve
rcpt hostunknown: 553 Invalid domain in your address
rcpt securityerror: 550 Invalid credentials
rcpt rejected: 550 Invalid sender address
rcpt undetermined: 550 invalid message id
rcpt policyviolation: 550 Attachment account.exe is not allowed
rcpt undetermined: 550 Mail address not authorised
message contenterror: 550 Invalid recipient headers
message toomanyconn: 550 Too many recipients in header, invalid message
message suspended: 550 the account of the sender has been suspended
message blocked: 554 Your account has been suspended for sending spam
rcpt suspended: 550 Sender account is disabled
rcpt policyviolation: 550 relaying to ann@reader.test prohibited by administrator
rcpt blocked: 550 no valid PTR for your host
rcpt userunknown: 421 4.7.0 Try again later, user unknown attacks detected
rcpt toomanyconn: 550 too many unknown users from your IP
rcpt toomanyconn: 550 blocked due to too many invalid recipients
rcpt toomanyconn: 550 directory harvest attack detected: too many unknown recipients
rcpt systemerror: 550 Unknown command
rcpt undetermined: 554 Unknown error
rcpt undetermined: 550 unknown reason
rcpt userunknown: 450 4.1.1 <ann@reader.test>: Recipient address rejected: User temporarily unavailable
rcpt suspended: 451 4.2.1 mailbox temporarily disabled
rcpt mailboxfull: 450 user is over quota
rcpt mailboxfull: 550 Account inactive: over quota
rcpt mailboxfull: 550 Recipient mailbox is full, unknown user
rcpt policyviolation: 554 5.1.1 User unknown; rejecting due to policy
rcpt blocked: 550 5.1.1 <ann@reader.test>... User unknown, but your IP is listed at spamhaus.org
rcpt userunknown: 550 5.1.1 recipient unknown: see https://reader.test/blocked-list
rcpt undetermined: 550 Not found: ann@reader.test
rcpt securityerror: 550 <ann@reader.test> Access denied
rcpt userunknown: 550 5.1.1 Access denied

# Replies of large providers and mail systems, as they are seen
rcpt mailboxfull: 452-4.2.2 The email account that you tried to reach is over quota. Please direct 452-4.2.2 the recipient to 452 4.2.2 https://support.google.com/mail/?p=OverQuotaTemp x1 - gsmtp
rcpt mailboxfull: 552-5.2.2 The recipient's inbox is out of storage space. Please direct the recipient to https://support.google.com/mail/?p=OverQuotaPerm x1 - gsmtp
rcpt ratelimited: 450-4.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages from being delivered. Please resend your message at a later time. https://support.google.com/mail/?p=ReceivingRate x1 - gsmtp
rcpt ratelimited: 550-5.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages from being delivered. For more information, please visit https://support.google.com/mail/?p=ReceivingRatePerm x1 - gsmtp
message ratelimited: 421-4.7.0 [192.0.2.9 15] Our system has detected an unusual rate of unsolicited mail originating from your IP address. To protect our users from spam, mail sent from your IP address has been temporarily rate limited.
message authfailure: 550-5.7.26 This mail has been blocked because the sender is unauthenticated. Gmail requires all senders to authenticate with either SPF or DKIM. Authentication results: DKIM = did not pass SPF [sender.test] with ip: [192.0.2.9] = did not pass
message authfailure: 550-5.7.1 This message does not have authentication information or fails to pass authentication checks (SPF or DKIM). To best protect our users from spam, the message has been blocked.
message blocked: 550-5.7.25 [192.0.2.9] The IP address sending this message does not have a PTR record setup, or the corresponding forward DNS entry does not match the sending IP.
message policyviolation: 552-5.7.0 This message was blocked because its content presents a potential security issue. Please visit https://support.google.com/mail/?p=BlockedMessage to review our message content and attachment content guidelines. x1 - gsmtp
message contenterror: 550-5.7.1 [192.0.2.9] Messages missing a valid messageId header are not accepted.
message contenterror: 550-5.7.1 [192.0.2.9] Our system has detected that this message is not RFC 5322 compliant: 'From' header is missing. To reduce the amount of spam sent to Gmail, this message has been blocked.
mail toobig: 552-5.3.4 Your message exceeded Google's message size limits. Please visit https://support.google.com/mail/?p=MaxSizeError to view our size guidelines.
rcpt hostunknown: 553-5.1.2 We weren't able to find the recipient domain. Please check for any spelling errors, and make sure you didn't enter any spaces, periods, or other punctuation after the recipient's email address.
message ratelimited: 550 5.4.5 Daily user sending limit exceeded. For more information on Gmail sending limits go to https://support.google.com/a/answer/166852
message contenterror: 554 5.6.0 Mail message is malformed. Not accepted. x1 - gsmtp
mail ratelimited: 421 4.7.0 Try again later, closing connection. (MAIL) x1 - gsmtp
rcpt userunknown: 550-5.1.1 The email account that you tried to reach does not exist. Please try 550-5.1.1 double-checking the recipient's email address for typos or 550 5.1.1 unnecessary spaces. x1 - gsmtp
rcpt userunknown: 550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302). [AM5EUR02FT008.eop-EUR02.prod.protection.outlook.com]
mail blocked: 550 5.7.1 Unfortunately, messages from [192.0.2.9] weren't sent. Please contact your Internet service provider since part of their network is on our block list (S3140).
mail blocked: 550 SC-001 (BAY004-MC1F43) Unfortunately, messages from 192.0.2.9 weren't sent. Please contact your Internet service provider since part of their network is on our block list.
mail ratelimited: 421 RP-001 (BAY004-MC1F43) Unfortunately, some messages from 192.0.2.9 weren't sent. Please try again. We have limits for how many messages can be sent per hour and per day.
exim blocked: SMTP error from remote mail server after initial connection: 550 DY-001 (SNT004-MC1F42) Unfortunately, messages from 192.0.2.9 weren't sent. Please contact your Internet service provider. You can tell them that Hotmail does not relay dynamically-assigned IP ranges.
message authfailure: 550 5.7.515 Access denied, sending domain SENDER.TEST doesn't meet the required authentication level.
rcpt userunknown: 550 5.4.1 Recipient address rejected: Access denied. [AM0EUR02FT004.eop-EUR02.prod.protection.outlook.com]
rcpt userunknown: 550 5.4.1 [neko@example.org]: Recipient address rejected: Access denied
rcpt blocked: 550 5.7.606 Access denied, banned sending IP [192.0.2.9]. To request removal from this list please visit https://sender.office.com/
rcpt blocked: 550 5.7.511 Access denied, banned sender[192.0.2.9]. To request removal from this list please forward this message to delist@messaging.microsoft.com.
message ratelimited: 550 5.7.705 Access denied, tenant has exceeded threshold.
message contenterror: 554 5.6.11 Invalid characters; SMTPSEND.BareLinefeedsAreIllegal; message contains bare linefeeds, which cannot be sent via DATA and receiving system does not support BDAT
message rejected: 550 5.7.124 RESOLVER.RST.SenderNotInAllowedList; not authorized; sender not in allowed list
rcpt systemerror: 451 4.7.500 Server busy. Please try again later from [192.0.2.9]. (AS77713)
message ratelimited: 550 5.2.121 RESOLVER.RST.RecipientRateLimitExceeded; recipient thread limit exceeded: too many messages received from this sender
exim blocked: SMTP error from remote mail server after initial connection: 554 dukecmimpi208.cox.net cox 192.0.2.9 is blocked. Refer to error codes section at http://postmaster.cox.net/ - CXBL
exim toomanyconn: SMTP error from remote mail server after initial connection: 421 eastrmimpi306 cox too many sessions from 192.0.2.9 CXCNCT
rcpt userunknown: 550 5.1.1 <neko@cox.net> recipient rejected. user unknown. CXUNK
rcpt userunknown: 550 5.1.1 Adresse d au moins un destinataire invalide. Invalid recipient. OFR204_416 [416]
rcpt mailboxfull: 552 5.1.1 Boite du destinataire pleine. Recipient overquota. OFR204_417 [417]
message spamdetected: 550 5.7.1 Service refuse. Veuillez verifier votre message. Spam detected. OFR_506 [506]
exim toomanyconn: SMTP error from remote mail server after initial connection: 421 mwinf5c04 ME Trop de connexions, veuillez verifier votre configuration. Too many connections, slow down. OFR004_104 [104]
mail rejected: 501 5.1.0 Emetteur invalide. Invalid Sender. OFR004_418 [418]
rcpt userunknown: 550 5.1.1 <neko@example.org> Recipient not found.  <http://x.co/irbounce>
exim blocked: SMTP error from remote mail server after initial connection: 554 p3plibsmtp01-01.prod.phx3.secureserver.net bizsmtp IB105. Connection refused. 192.0.2.9 is in RBL
exim blocked: SMTP error from remote mail server after initial connection: 554 charter.net AUP#I-1260 - Blocked due to reputation of 192.0.2.9
rcpt userunknown: 550 5.1.1 <neko@charter.net> invalid recipient [E1120]
rcpt userunknown: 550 Mailbox not found. http://service.mail.qq.com/cgi-bin/help?subtype=1&&id=20022&&no=1000728
message spamdetected: 550 Mail content denied. http://service.mail.qq.com/cgi-bin/help?subtype=1&&id=20022&&no=1000726
rcpt authfailure: 550 SPF check failed [BCbv0xsl]. https://service.mail.qq.com/detail/122/72
message suspended: 554 30 Sorry, your message to neko@yahoo.com cannot be delivered. This mailbox is disabled (554.30). - mta4
mail blocked: 421 4.7.0 [TSS04] Messages from 192.0.2.9 temporarily deferred due to unexpected volume or user complaints - 4.16.55.1; see https://postmaster.yahooinc.com/error-codes
exim blocked: SMTP error from remote mail server after initial connection: 553 5.7.1 [BL21] Connections will not be accepted from 192.0.2.9, because the ip is in Spamhaus's list; see http://postmaster.yahoo.com/550-bl23.html
message policyviolation: 554 5.7.9 Message not accepted for policy reasons. See https://postmaster.yahooinc.com/error-codes
rcpt userunknown: 550 5.1.1 <neko@icloud.com>: user does not exist
rcpt hasmoved: 550 5.1.6 recipient no longer on server: neko@icloud.com
message policyviolation: 550 5.7.1 [CS01] Message rejected due to local policy. Please visit https://support.apple.com/en-us/HT204137
rcpt mailboxfull: 552 5.2.2 <neko@icloud.com>: user is over quota
rcpt rejected: 541 5.4.1 Mail rejected by destination domain
rcpt userunknown: 550 5.1.1 User does not exist - <neko@example.org>
rcpt rejected: 550 Administrative prohibition - envelope blocked - https://community.mimecast.com/docs/DOC-1369#550 [x.eu]
message policyviolation: 554 Email rejected due to security policies - https://community.mimecast.com/docs/DOC-1369#554 [x.eu]
rcpt blocked: 550 csi.mimecast.org Poor Reputation Sender. - https://community.mimecast.com/docs/DOC-1369#550 [x.eu]
rcpt policyviolation: 550 Rejected by header based Anti-Spoofing policy: news@sender.test - https://community.mimecast.com/docs/DOC-1369#550 [x.eu]
rcpt userunknown: 550-Invalid recipient <neko@example.org> (#5.1.1)
message spamdetected: 553-Message filtered. Refer to the Troubleshooting page at 553-http://www.symanteccloud.com/troubleshooting for more 553 information. (#5.7.1)
exim blocked: SMTP error from remote mail server after initial connection: 501 Connection rejected by policy [7.7] 18116, please visit www.messagelabs.com/support for more details about this error message.
rcpt userunknown: 550 5.1.1 <neko@example.org>: Recipient address rejected: User unknown in virtual alias table
rcpt blocked: 554 Blocked - see https://ipcheck.proofpoint.com/?ip=192.0.2.9
message spamdetected: 550 5.7.1 Message contains content classified as spam
message virusdetected: 554 5.7.1 Virus found in your message: Eicar-Test-Signature
rcpt suspended: 550 5.2.1 <neko@example.org>... Mailbox disabled, not accepting messages
rcpt suspended: 550 5.2.1 <neko@example.org> Account inactive: user has been deactivated
rcpt filtered: 550 5.7.1 <neko@example.org>: Recipient address rejected: this user only accepts mail from known senders
mail systemerror: 452 4.3.1 Insufficient system resources (UsedDiskSpace)
rcpt systemerror: 451 4.3.0 <neko@example.org>: Temporary lookup failure
rcpt blocked: 550-5.7.1 Rejected: 192.0.2.9 listed at bl.spamcop.net 550 5.7.1 contact postmaster@example.org
rcpt blocked: 550 Sorry, we do not accept mail from hosts with dynamic IP or generic DNS PTR-records; contact postmaster@example.org
rcpt blocked: 550 HELO/EHLO does not match your IP address' reverse DNS
ehlo blocked: 550 Invalid or unknown domain: sender.test
rcpt rejected: 521 mx.example.org does not accept mail
rcpt rejected: 550 5.3.2 System not accepting network messages
rcpt hostunknown: 550 5.1.2 <neko@example.org>: Host unknown
rcpt userunknown: 550 5.1.1 No such user here, or mailbox unavailable. Contact postmaster@example.org if you believe this is spam related
rcpt suspended: 550 5.1.1 <neko@example.org> is a deactivated mailbox
message spamdetected: 554 5.7.1 message contains URL listed in multi.surbl.org
message authfailure: 550 5.7.1 DMARC policy violation: sender.test
message networkerror: 554 5.4.6 Hop count exceeded - possible mail loop
message networkerror: 554 Too many hops 27 (25 max): from news@sender.test via mx.example.org
message policyviolation: 552 5.7.0 Attachment type .exe not allowed
message contenterror: 500 Line too long
message contenterror: 550 5.6.0 Lone CR or LF in body (see RFC2822 section 2.3)
mail securityerror: 530 5.7.1 Authentication required
mail authfailure: 550 5.7.1 sender.test: SPF record does not permit 192.0.2.9
rcpt toomanyconn: 450 4.7.1 Too many recipients per connection, slow down
exim toomanyconn: SMTP error from remote mail server after initial connection: 421 4.7.0 Too many concurrent SMTP connections from this IP address; please try again later.
rcpt userunknown: 550 5.1.1 Unbekannter Empfaenger
rcpt mailboxfull: 550 Benutzer hat zuviele Mails auf dem Server.
rcpt mailboxfull: 550 Casilla del destinatario llena / usuario sobre cuota
rcpt userunknown: 550 5.1.1 Utente sconosciuto
rcpt userunknown: 550 Message was not accepted -- invalid mailbox. Local mailbox neko@mail.ru is unavailable: user not found
rcpt suspended: 550 Message was not accepted -- invalid mailbox. Local mailbox neko@mail.ru is unavailable: account is disabled
rcpt userunknown: 550 5.7.1 No such user! 1777888999-abc
rcpt policyviolation: 554 5.7.1 Policy rejection on the target address; https://ya.cc/1IrBc
message spamdetected: 554 5.7.1 [2] Message rejected under suspicion of SPAM; https://ya.cc/1IrBc
exim blocked: SMTP error from remote mail server after initial connection: 554 IP=192.0.2.9 - A problem occurred. Ask your postmaster for help or to contact tosa@rx.t-online.de to clarify. (BL)
rcpt userunknown: 550 5.1.1 <neko@t-online.de> mailbox unknown
rcpt userunknown: 550 Requested action not taken: mailbox unavailable For explanation visit https://postmaster.gmx.net/en/error-messages?ip=192.0.2.9&c=null
message policyviolation: 554 Transaction failed Reject due to policy restrictions. For explanation visit https://postmaster.gmx.net/en/case?c=r0103
rcpt mailboxfull: 550 Requested mail action aborted: exceeded storage allocation; Quota exceeded. The recipient mailbox is full
rcpt suspended: 550 5.2.1 This mailbox has been blocked due to inactivity
message spamdetected: 554 5.7.1 spam detected by spamassassin
exim blocked: SMTP error from remote mail server after initial connection: 554 resimta-ch2-19v.sys.comcast.net comcast 192.0.2.9 Comcast block for spam. Please see http://postmaster.comcast.net/smtp-error-codes.php#BL000000
exim toomanyconn: SMTP error from remote mail server after initial connection: 421 resimta imta Too many sessions opened 192.0.2.9
rcpt mailboxfull: 550 5.2.1 : MAILBOX FULL: Recipient mailbox has exceeded its limit
message filtered: 550 Invalid recipient: <neko@softbank.ne.jp>
rcpt userunknown: 550 5.1.1 <neko@softbank.ne.jp>: Recipient address rejected: User unknown
rcpt filtered: 550 5.2.0 Message rejected: recipient refuses mail
rcpt userunknown: 553 5.1.1 No such user x1 - nsmtp
rcpt userunknown: 550 User not found: neko@163.com
message spamdetected: 554 DT:SPM 163 mx23,abc,1 http://mail.163.com/help/help_spam_16.htm?ip=192.0.2.9
rcpt mailboxfull: 550 5.2.2 Quota exceeded / A caixa postal do destinatario esta cheia
rcpt userunknown: 550 5.1.1 Usuario desconhecido / User unknown
rcpt userunknown: 550 RCPT TO:<neko@libero.it> User unknown
rcpt mailboxfull: 552 RCPT TO:<neko@libero.it> Mailbox disk quota exceeded
rcpt userunknown: 550 5.1.1 Nieznany uzytkownik / no such user here
rcpt userunknown: 550 5.1.1 No such address
rcpt mailboxfull: 552 5.2.2 Over quota: mailbox neko@seznam.cz
ehlo blocked: 550 Unknown host mail.sender.test in HELO
rcpt blocked: 550 Domain does not exist: sender HELO
rcpt blocked: 550 5.7.1 Recipient address rejected: your IP is unknown to us
rcpt blocked: 550 5.7.1 Client address unknown
rcpt rejected: 550 sending domain does not exist
rcpt rejected: 553 5.5.4 <news>... Domain name required for sender address news
fields blocked: 550 Your access to submit messages to this e-mail system has been rejected.
fields blocked: 554 Connection refused - contact the administrator
fields spamdetected: 550 This message is probably spam
fields spamdetected: 554 Rejected due to spam classification
fields filtered: 550 This user has chosen to accept mail only from trusted senders
fields filtered: 550 The recipient does not accept mails from you
fields filtered: 550 Sender is on user denylist
fields contenterror: 554 5.6.1 charset not supported
fields mailboxfull: 552 Too many messages in the mailbox
fields userunknown: 550 User (ann@reader.test) unknown.
fields userunknown: 550 No such subscriber
exim spamdetected: SMTP error from remote mail server after end of data: 550 5.7.1 this mail has been blocked as it is probably spam
exim suspended: SMTP error from remote mail server after RCPT TO:<ann@reader.test>: 550 5.2.1 This mailbox has been blocked due to inactivity
exim rejected: SMTP error from remote mail server after RCPT TO:<ann@reader.test>: 550-Verification failed for <news@sender.test> 550-The mail server could not deliver mail to news@sender.test. The account or domain may not exist, they may be blacklisted, or missing the proper dns entries. 550 Sender verify failed
rcpt userunknown: 550 5.1.1 id=12345-06 - Rejected by next-hop MTA on relaying, from MTA(smtp:[127.0.0.1]:10025): 550 5.1.1 <ann@reader.test>: Recipient address rejected: User unknown in virtual mailbox table
`
