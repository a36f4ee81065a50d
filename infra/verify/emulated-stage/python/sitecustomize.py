# Python runs this before MiniStack, and gives it what it lacks. It imports a table into a stack only as AWS::DynamoDB::Table, while CDK
# writes GlobalTable, and takes the name of a bucket that is imported for a conflict. It has no CodeDeploy: an alias moves at once.
import string

try:
    from ministack.services.cloudformation.changesets import _IMPORT_LOOKUPS as lookups
    from ministack.services.cloudformation import provisioners
except ImportError:
    # A Python that MiniStack starts for something else.
    pass
else:
    handlers = provisioners._RESOURCE_HANDLERS
    table, written = "AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable"
    lookups[written] = lookups[table]
    handlers[written]["import"] = handlers[table]["import"]

    # A bucket that is created is refused by S3 itself.
    provisioners.s3_bucket_name_conflict = lambda name: None

    def create(logical_id, props, stack_name):
        name = f"{stack_name}-{logical_id}"
        return name, {"Arn": name}

    def update(physical_id, old_props, new_props, stack_name):
        return physical_id, {"Arn": physical_id}

    def delete(physical_id, props):
        pass

    for kind in ("Application", "DeploymentConfig", "DeploymentGroup"):
        handlers[f"AWS::CodeDeploy::{kind}"] = {"create": create, "update": update, "delete": delete}

    # It generates secrets with punctuation, whatever the template says.
    generate = provisioners._sm_secret_string

    def without_punctuation(props):
        generated = props.get("GenerateSecretString") or {}
        if not generated.get("ExcludePunctuation"):
            return generate(props)
        excluded = generated.get("ExcludeCharacters", "") + string.punctuation
        return generate({**props, "GenerateSecretString": {**generated, "ExcludeCharacters": excluded}})

    provisioners._sm_secret_string = without_punctuation
