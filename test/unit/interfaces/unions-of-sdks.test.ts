// Every variant in the official SDKs' own types is in the gateway's list that decides its translation. An update of an
// SDK shows new variants.

import { isListedEnd } from '../../../shared/protocol/event-folds/end-words.ts';
import { isListedMember } from '../../../shared/protocol/hub/index.ts';
import { readHubNeeds as chatNeeds } from '../../../shared/protocol/interfaces/chat-completions/hub-needs.ts';
import { chatMembers } from '../../../shared/protocol/interfaces/chat-completions/translation/chat-call.ts';
import { isListedTool } from '../../../shared/protocol/interfaces/dearer-features.ts';
import { isListedBlock } from '../../../shared/protocol/interfaces/messages/block-types.ts';
import { readHubNeeds as messageNeeds } from '../../../shared/protocol/interfaces/messages/read-messages-request.ts';
import {
  messageMembers,
  thinkingTypes,
} from '../../../shared/protocol/interfaces/messages/translation/message-call.ts';
import { isListedItem } from '../../../shared/protocol/interfaces/responses/item-types.ts';
import { readHubNeeds as responseNeeds } from '../../../shared/protocol/interfaces/responses/response-hub-needs.ts';
import { responseMembers } from '../../../shared/protocol/interfaces/responses/translation/response-call.ts';
import type { HubNeed } from '../../../shared/protocol/wire/index.ts';
import { isEffort } from '../../../shared/protocol/wire/index.ts';
import { knownDeltaTypes, knownEventTypes } from '../../../shared/routing/formats/hub/targets/anthropic-events.ts';
import { isListedEvent } from '../../../shared/routing/formats/hub/targets/responses-events.ts';
import { faultOfCode } from '../../../shared/routing/providers/fault-behind-invalid.ts';
import { rejectsRequest } from '../../../shared/routing/providers/rejection-reasons.ts';
import { describeUnions, type SdkUnion } from '../../support/sdk-unions.ts';

/** Returns whether every part is known: an unknown part needs `content_part`, which no format supports. */
const takes = (hubNeeds: readonly HubNeed[]): boolean => !needs(hubNeeds, 'content_part');
const needs = (hubNeeds: readonly HubNeed[], needed: HubNeed['kind']): boolean =>
  hubNeeds.some(({ kind }) => kind === needed);
const choosesTool = (hubNeeds: readonly HubNeed[]): boolean => !needs(hubNeeds, 'tools');

const parts: readonly SdkUnion[] = [
  {
    title: 'blocks of Messages, sent',
    type: "Beta.BetaContentBlockParam['type'] | Messages.ContentBlockParam['type']",
    isListed: isListedBlock,
  },
  {
    title: 'blocks of Messages, answered',
    type: "Beta.BetaContentBlock['type'] | Messages.ContentBlock['type']",
    isListed: isListedBlock,
  },
  {
    title: 'blocks in results of tools of Messages',
    type: "Beta.BetaToolResultContentBlockParam['type']",
    isListed: isListedBlock,
  },
  {
    title: 'tools of Messages',
    type: "NonNullable<Beta.BetaToolUnion['type'] | Messages.ToolUnion['type']>",
    isListed: isListedTool,
  },
  {
    title: 'members of a Messages request',
    type: 'Names<Beta.MessageCreateParamsNonStreaming | Messages.MessageCreateParamsNonStreaming>',
    isListed: (member) => isListedMember(messageMembers, member),
  },
  {
    title: 'events of Messages',
    type: "Beta.BetaRawMessageStreamEvent['type'] | Messages.RawMessageStreamEvent['type']",
    isListed: (type) => knownEventTypes.includes(type),
  },
  {
    title: 'deltas of Messages',
    type: "Beta.BetaRawContentBlockDelta['type'] | Messages.RawContentBlockDelta['type']",
    isListed: (type) => knownDeltaTypes.includes(type),
  },
  {
    title: 'items of Responses, sent',
    type: "NonNullable<Responses.ResponseInputItem['type']>",
    isListed: isListedItem,
  },
  {
    title: 'items of Responses, answered',
    type: "NonNullable<Responses.ResponseOutputItem['type']>",
    isListed: isListedItem,
  },
  {
    title: 'parts of Responses',
    type: "Responses.ResponseInputContent['type'] | Responses.ResponseFunctionCallOutputItem['type']",
    isListed: (type) => takes(responseNeeds({ input: [{ role: 'user', content: [{ type }] }] })),
  },
  { title: 'tools of Responses', type: "Responses.Tool['type']", isListed: isListedTool },
  {
    title: 'members of a Responses request',
    type: 'Names<Responses.ResponseCreateParamsNonStreaming>',
    isListed: (member) => isListedMember(responseMembers, member),
  },
  { title: 'events of Responses', type: "Responses.ResponseStreamEvent['type']", isListed: isListedEvent },
  {
    title: 'parts of chat completions',
    type: "Chat.ChatCompletionContentPart['type']",
    isListed: (type) => takes(chatNeeds({ messages: [{ role: 'user', content: [{ type }] }] })),
  },
  { title: 'tools of chat completions', type: "Chat.ChatCompletionTool['type']", isListed: isListedTool },
  {
    title: 'members of a chat completion',
    type: 'Names<Chat.ChatCompletionCreateParamsNonStreaming>',
    isListed: (member) => isListedMember(chatMembers, member),
  },
];

const words = (choices: string) => `Word<${choices}> | TypeOf<Extract<NonNullable<${choices}>, object>>`;
const choices: readonly SdkUnion[] = [
  {
    title: 'roles of Messages',
    type: "Beta.BetaMessageParam['role'] | Messages.MessageParam['role']",
    isListed: (role) => takes(messageNeeds({ messages: [{ role, content: 'Hello' }] })),
  },
  {
    title: 'sources of images and documents of Messages',
    type: "TypeOf<Beta.BetaImageBlockParam['source'] | Beta.BetaRequestDocumentBlock['source'] | Messages.DocumentBlockParam['source']>",
    isListed: (type) =>
      takes(messageNeeds({ messages: [{ role: 'user', content: [{ type: 'document', source: { type } }] }] })),
  },
  {
    title: 'choices of tools of Messages',
    type: 'TypeOf<Beta.BetaToolChoice | Messages.ToolChoice>',
    isListed: (type) =>
      choosesTool(messageNeeds({ tools: [{ name: 'f', input_schema: {} }], tool_choice: { type, name: 'f' } })),
  },
  {
    title: 'kinds of thinking of Messages',
    type: 'TypeOf<Beta.BetaThinkingConfigParam | Messages.ThinkingConfigParam>',
    isListed: (type) => thinkingTypes.includes(type),
  },
  {
    title: 'efforts of Messages',
    type: "NonNullable<Beta.BetaOutputConfig['effort'] | Messages.OutputConfig['effort']>",
    isListed: isEffort,
  },
  {
    title: 'roles of chat completions',
    type: "Chat.ChatCompletionMessageParam['role']",
    isListed: (role) => takes(chatNeeds({ messages: [{ role, content: 'Hello' }] })),
  },
  {
    title: 'choices of tools of chat completions',
    type: words('Chat.ChatCompletionToolChoiceOption'),
    isListed: (choice) =>
      [choice, { type: choice }].some((one) =>
        choosesTool(chatNeeds({ tools: [{ type: 'function' }], tool_choice: one })),
      ),
  },
  {
    title: 'formats of chat completions',
    type: "NonNullable<Chat.ChatCompletionCreateParams['response_format']>['type']",
    isListed: (type) => !needs(chatNeeds({ response_format: { type } }), 'response_format'),
  },
  {
    title: 'efforts of chat completions',
    type: "NonNullable<Chat.ChatCompletionCreateParams['reasoning_effort']>",
    isListed: (effort) => effort === 'none' || isEffort(effort),
  },
  {
    title: 'roles of Responses',
    type: "Responses.EasyInputMessage['role'] | Responses.ResponseInputItem.Message['role'] | Responses.ResponseOutputMessage['role']",
    isListed: (role) => takes(responseNeeds({ input: [{ role, content: 'Hello' }] })),
  },
  {
    title: 'choices of tools of Responses',
    type: words("Responses.ResponseCreateParams['tool_choice']"),
    isListed: (choice) =>
      choosesTool(responseNeeds({ tools: [{ type: 'function', name: 'f' }], tool_choice: choice })) ||
      choice === 'allowed_tools' ||
      isListedTool(choice),
  },
  {
    title: 'formats of Responses',
    type: "NonNullable<NonNullable<Responses.ResponseCreateParams['text']>['format']>['type']",
    isListed: (type) => !needs(responseNeeds({ text: { format: { type } } }), 'response_format'),
  },
  {
    title: 'efforts of Responses',
    type: "NonNullable<NonNullable<Responses.ResponseCreateParams['reasoning']>['effort']>",
    isListed: (effort) => effort === 'none' || isEffort(effort),
  },
];

const ends: readonly SdkUnion[] = [
  { title: 'ends of Messages', type: 'Beta.BetaStopReason | Messages.StopReason', isListed: isListedEnd },
  {
    title: 'ends of Responses',
    type: "Responses.ResponseStatus | NonNullable<Responses.Response.IncompleteDetails['reason']>",
    isListed: isListedEnd,
  },
  {
    title: 'ends of chat completions',
    type: "Chat.ChatCompletion.Choice['finish_reason']",
    isListed: isListedEnd,
  },
];
/** Codes about the client's own request, or about the organization of its user; they reach the client. */
const codesOfRequests = [
  'available_tools_limit_exceeded claude_code_version_too_old compaction_block_ambiguous compaction_block_misplaced',
  'compaction_content_mismatch compaction_incomplete_turn compaction_nothing_to_summarize compaction_signature_invalid',
  'compaction_too_many_tool_references compaction_tool_changes_mismatch compaction_unavailable file_expired',
  'file_not_downloadable image_dimensions_too_large linked_organization_billing_unavailable',
  'linked_organization_spend_limit_reached organization_not_enrolled_in_beta request_body_encoding_invalid',
  'request_body_encoding_unsupported request_body_timeout request_body_too_large_after_decoding sandbox_egress_restricted',
  'skill_read_blocked_undecryptable thread_already_continued thread_continue_in_flight thread_fingerprint_mismatch',
  'thread_not_found thread_unsupported_request tool_name_conflict tool_reference_unresolved unsupported_charset',
  'user_profile_billing_not_authorized user_profile_not_billable user_profile_not_found user_profile_required',
];
/** Codes of Anthropic's administration, files and agents, which the gateway never calls. */
const codesOfOthers = [
  'already_member api_key_scope_missing approval_required authorization_check_unavailable bundle_attachment_not_supported',
  'bundle_on_call change_outcome_unknown cmek_not_approved external_key_not_found external_key_provider_mismatch',
  'external_storage_in_use external_storage_in_workspace_policy external_storage_not_available',
  'gcp_project_controlled_by_another_organization gcp_project_not_verified grant_required human_review_not_available',
  'human_review_on_with_external_storage invalid_storage_arn organization_not_eligible provider_not_allowed',
  'region_not_supported storage_already_registered storage_attach_limit_reached storage_attached_during_archive',
  'storage_changed_concurrently storage_in_use storage_not_approved storage_not_attachable storage_profile_mismatch',
  'storage_profile_still_required storage_verification_failed transcripts_storage_required unsupported_region',
  'workspace_changed_concurrently workspace_created_incomplete workspace_human_review_disabled',
  'cannot_invite_emails_with_unverified_domains cannot_remove_last_member cannot_sign_out_managed_member',
  'cannot_sign_out_membership_admin cannot_sign_out_owner cannot_sign_out_primary_owner cannot_sign_out_privileged_member',
  'cannot_sign_out_self claude_tag_writes_not_enabled cmek_feature_unsupported compliance_configuration_restricted',
  'concurrent_membership_change email_domain_not_allowed environment_archived environment_create_disabled',
  'environment_not_found environment_update_disabled external_key_changed external_key_in_workspace_policy',
  'external_key_validation_failed external_key_validation_timed_out heartbeat_precondition_failed',
  'invalid_config_type_change invalid_metadata invite_already_exists key_profile_mismatch org_api_key_limit_exceeded',
  'org_member_limit_exceeded organization_level_scoped_api_key_required plugin_name_taken rbac_group_grants_owner_access',
  'rbac_group_managed_settings_not_found rbac_group_not_found rbac_group_order_limit_exceeded',
  'rbac_group_owner_access_unconfirmed rbac_role_not_found registration_pending scan_failed scan_pending',
  'settings_document_limit_exceeded settings_history_limit_exceeded skill_name_taken',
  'slack_channel_set_up_environment_not_found slack_channel_set_up_settings_conflict slack_channel_set_up_settings_refused',
  'spend_limits_admin_api_writes_not_enabled storage_quota_exceeded workspace_api_key_limit_exceeded',
  'workspace_member_limit_exceeded workspace_policy_violation',
];
const codesOfNoAccount: ReadonlySet<string> = new Set([...codesOfRequests, ...codesOfOthers].join(' ').split(' '));
/** Codes about the provider or the gateway's account at it. */
const failuresOfProviders: readonly string[] = ['server_error', 'vector_store_timeout', 'rate_limit_exceeded'];
const noDetails = { type: '', parameter: '', message: '', status: undefined };
const errors: readonly SdkUnion[] = [
  {
    title: 'codes of failed responses',
    type: "Responses.ResponseError['code']",
    isListed: (code) => failuresOfProviders.includes(code) || rejectsRequest({ ...noDetails, code }),
  },
  {
    title: "codes of Anthropic's errors",
    type: "Shared.ErrorDetails['error_code']",
    isListed: (code) => faultOfCode(code) !== undefined || codesOfNoAccount.has(code),
  },
];

describeUnions([...parts, ...choices, ...ends, ...errors]);
